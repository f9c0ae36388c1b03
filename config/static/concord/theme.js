// Light, dark, or as the system says. Loaded before the page is drawn, so that it never flashes.
(() => {
  "use strict";
  const root = document.documentElement;
  const order = ["auto", "light", "dark"];

  function stored() {
    try {
      return localStorage.getItem("concord-theme");
    } catch {
      return null; // storage is switched off: the system's theme is used
    }
  }

  function apply(theme) {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  let theme = order.includes(stored()) ? stored() : "auto";
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const say = () => {
        const names = { auto: gettext("Auto"), light: gettext("Light"), dark: gettext("Dark") };
        button.querySelector("[data-theme-name]").textContent = names[theme];
        const label = gettext("Theme: %(theme)s. Change it");
        button.setAttribute("aria-label", fillIn(label, { theme: names[theme].toLowerCase() }));
      };
      button.hidden = false;
      say();
      button.addEventListener("click", () => {
        theme = order[(order.indexOf(theme) + 1) % order.length];
        apply(theme);
        try {
          localStorage.setItem("concord-theme", theme);
        } catch {
          // the choice then lasts for this page only
        }
        say();
      });
    }
  });
})();
