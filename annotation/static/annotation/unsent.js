// Answers that the server refused: they stay in this browser and are told on the page, to be sent again, downloaded or discarded.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  const box = form?.querySelector("[data-unsent]");
  if (!box) return;
  const place = (name) => `concord-${form.dataset.user}-${name}`;
  const load = (name) => JSON.parse(localStorage.getItem(place(name)) || "[]");
  const store = (name, value) => localStorage.setItem(place(name), JSON.stringify(value));

  function show() {
    const n = load("unsent").length;
    box.hidden = !n;
    box.querySelector("[data-unsent-told]").textContent =
      fillIn(ngettext("The answers of %(n)s item are not saved: the server refused them.", "The answers of %(n)s items are not saved: the server refused them.", n), { n });
  }

  function sendAgain() {
    store("outbox", [...load("outbox"), ...load("unsent")]);
    store("unsent", []);
    window.dispatchEvent(new Event("online"));
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(load("unsent"), null, 2)], { type: "application/json" }));
    link.download = "unsaved-answers.json";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  const discard = () => window.confirm(gettext("Discard these answers? They are saved nowhere else.")) && store("unsent", []);
  const actions = { again: sendAgain, download, discard };

  box.addEventListener("click", (event) => {
    const name = event.target.closest("[data-unsent-act]")?.dataset.unsentAct;
    if (!name) return;
    actions[name]();
    show();
  });
  form.addEventListener("rate:unsent", show);
  show();
})();
