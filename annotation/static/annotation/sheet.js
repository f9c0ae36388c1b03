// The sheet of criteria on a small screen folds to one row, and opens where something is missing.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  const button = form?.querySelector("[data-sheet]");
  if (!button) return;
  const KEY = "concord-sheet";
  const told = form.querySelector("[data-sheet-told]");

  function fold(folded) {
    form.toggleAttribute("data-folded", folded);
    button.setAttribute("aria-expanded", !folded);
    button.textContent = folded ? gettext("Open") : gettext("Fold");
    sessionStorage.setItem(KEY, folded ? "folded" : "open");
    count();
  }

  function count() {
    const all = form.querySelectorAll("[data-criterion]:not([hidden])").length;
    const done = form.querySelectorAll("[data-criterion][data-answered]:not([hidden])").length;
    const counted = fillIn(gettext("%(done)s of %(total)s answered"), { done, total: all });
    told.textContent = form.hasAttribute("data-folded") ? counted : "";
  }

  button.hidden = false;
  button.addEventListener("click", (event) => {
    fold(!form.hasAttribute("data-folded"));
    if (event.detail) button.blur(); // clicked by mouse or finger: Enter submits again
  });
  form.addEventListener("rate:missing", () => fold(false));
  for (const kind of ["change", "input", "rate:item", "rate:filled"]) form.addEventListener(kind, count);
  fold(sessionStorage.getItem(KEY) === "folded");
})();
