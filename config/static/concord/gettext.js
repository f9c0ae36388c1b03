// Texts of scripts in the page's language. English needs no catalogue; without it all texts stay as they are.
(() => {
  "use strict";
  window.gettext ??= (text) => text;
  window.ngettext ??= (one, many, n) => (n === 1 ? one : many);
  window.fillIn = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => String(values[name]));
})();
