// Small conveniences, driven by data attributes; every page works without them.
(() => {
  "use strict";
  const narrow = window.matchMedia("(max-width: 68.74rem)");

  // data-fold-narrow: a <details> that is open on a wide screen and closed at first on a narrow one.
  function foldNarrow(root) {
    for (const details of root.querySelectorAll("details[data-fold-narrow]")) details.open = !narrow.matches;
  }

  // data-scroll-to="selector": a strip that scrolls sideways shows that part of itself at once.
  function scrollStrips(root) {
    for (const strip of root.querySelectorAll("[data-scroll-to]")) {
      const part = strip.querySelector(strip.dataset.scrollTo);
      if (part) strip.scrollLeft = part.offsetLeft - 32;
    }
  }

  // data-empty-opens="id": a choice of "none of these" opens the <details> where something else is described.
  document.addEventListener("change", (event) => {
    const part = event.target.dataset.emptyOpens;
    if (part && !event.target.value) document.getElementById(part).open = true;
  });

  function start(root) {
    foldNarrow(root);
    scrollStrips(root);
  }

  start(document);
  narrow.addEventListener("change", () => foldNarrow(document));
  document.addEventListener("htmx:load", (event) => event.target !== document.body && start(event.target));
})();
