// data-remember-folds: what somebody opens or closes in there stays so on the next item, by the fold's id. The click is
// what counts (a key on the summary is one, too): `toggle` comes late, also for what a script or the page itself opened.
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

  document.addEventListener("click", (event) => {
    const fold = event.target.closest("summary")?.parentElement;
    // It opens or closes after the click.
    if (fold?.matches(which)) sessionStorage.setItem(key(fold), fold.open ? "closed" : "open");
  });
  document.addEventListener("htmx:load", (event) => event.target !== document.body && restore());
  restore();
})();
