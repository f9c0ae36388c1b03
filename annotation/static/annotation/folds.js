// data-remember-folds: what somebody opens or closes in there stays so on the next item, by the fold's id.
(() => {
  "use strict";
  const key = (fold) => `concord-fold-${fold.id}`;
  const which = "[data-remember-folds]:not([data-searching]) details[id]";

  function restore() {
    for (const fold of document.querySelectorAll(which)) {
      const kept = sessionStorage.getItem(key(fold));
      if (kept) fold.open = kept === "open";
    }
  }

  document.addEventListener(
    "toggle",
    (event) => event.target.matches(which) && sessionStorage.setItem(key(event.target), event.target.open ? "open" : "closed"),
    true,
  );
  document.addEventListener("htmx:load", (event) => event.target !== document.body && restore());
  restore();
})();
