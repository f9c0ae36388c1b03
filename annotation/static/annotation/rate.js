// The rating page by keyboard. One criterion is active; its keys answer it and move on to the next.
// Without this script the page is a plain form.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;
  const status = form.querySelector("[data-saved]");
  const steps = form.querySelector("[data-steps]");
  const help = document.querySelector("[data-keys]");
  let criteria = [];
  let stepGroups = [];
  let active = 0;

  const radios = (criterion) => [...criterion.querySelectorAll("input[type=radio]")];
  const reason = (criterion) => criterion.querySelector("[data-unscored] input");
  const name = (criterion) => criterion.querySelector("legend span:last-child").textContent;
  const answered = (criterion) =>
    radios(criterion).some((radio) => radio.checked) || reason(criterion).value.trim() !== "";

  function show() {
    criteria.forEach((criterion, index) => criterion.toggleAttribute("data-active", index === active));
    for (const [button, group] of stepGroups) {
      const left = group.filter((criterion) => !answered(criterion));
      button.toggleAttribute("data-answered", !left.length);
      if (group.length > 1) button.textContent = `Turns ${group.length - left.length} / ${group.length}`;
      if (group.includes(criteria[active])) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    for (const turn of document.querySelectorAll("[data-item] [data-turn]"))
      turn.toggleAttribute("data-rated-now", turn.dataset.turn === criteria[active]?.dataset.ofTurn);
    for (const side of document.querySelectorAll("[data-side]"))
      side.toggleAttribute("data-chosen", radios(criteria[0]).some((r) => r.checked && r.value.split(":")[0] === side.dataset.side));
  }

  function activate(index) {
    if (!criteria.length) return;
    active = Math.max(0, Math.min(index, criteria.length - 1));
    show();
    form.dispatchEvent(new Event("rate:active"));
    criteria[active].scrollIntoView({ block: "nearest" });
    document.querySelector("[data-item] [data-rated-now]")?.scrollIntoView({ block: "nearest" });
  }

  // The turn that somebody walks to or clicks is the one that the keys rate next.
  function follow(event) {
    const turn = event.target.closest?.("[data-item] [data-turn]")?.dataset.turn;
    if (!turn || criteria[active]?.dataset.ofTurn === turn) return;
    const here = criteria.filter((criterion) => criterion.dataset.ofTurn === turn);
    if (here.length) activate(criteria.indexOf(here.find((criterion) => !answered(criterion)) || here[0]));
  }

  function say(text) {
    status.textContent = text;
  }

  function leaveNothingMissing() {
    const missing = criteria.filter((criterion) => !answered(criterion));
    if (!missing.length) return true;
    missing.forEach((criterion) => criterion.setAttribute("data-missing", ""));
    activate(criteria.indexOf(missing[0]));
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
    say(`Missing: ${name(missing[0])}${more}`);
    return false;
  }

  function changed(criterion) {
    criterion.removeAttribute("data-missing");
    say(criteria.every(answered) ? "Complete" : "");
    show();
  }

  function pick(radio) {
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    activate(active + 1);
  }

  // The category of a key: what is printed on it, or its place in the scale.
  function radioFor(key) {
    const all = radios(criteria[active]);
    return all.find((radio) => radio.dataset.key.toLowerCase() === key) || all[Number(key) - 1];
  }

  function openAndFocus(part) {
    const fold = criteria[active].querySelector(part);
    fold.open = true;
    fold.querySelector("input, textarea").focus();
  }

  const commands = {
    backspace: () => activate(active - 1),
    g: () => (criteria[active].querySelector("[data-guideline]") || {}).toggleAttribute?.("open"),
    c: () => openAndFocus("[data-note]"),
    x: () => openAndFocus("[data-unscored]"),
    u: () => tell("rate:undo"),
    e: () => tell("rate:mark"),
    j: () => tell("rate:walk", 1),
    k: () => tell("rate:walk", -1),
    d: () => tell("rate:differences"),
    s: () => tell("rate:together"),
    p: () => tell("rate:pause"),
    "?": () => help.showModal(),
  };

  // Other scripts of the page do the rest. False if one of them has taken it over.
  function tell(what, detail) {
    return form.dispatchEvent(new CustomEvent(what, { detail, cancelable: true }));
  }

  const isText = (node) => node.matches("input[type=text], input[type=search], textarea");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if (isText(event.target)) {
      if (key === "escape") event.target.blur();
      return;
    }
    if (key === "enter") {
      if (event.target.closest("button, a, summary")) return;
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    const radio = radioFor(key);
    const command = radio ? undefined : commands[key];
    if (!command && !radio) return;
    event.preventDefault();
    if (command) command();
    else pick(radio);
  });

  // A click on a key moves on, as the number does; arrow keys within a scale only choose.
  form.addEventListener("click", (event) => {
    const label = event.target.closest("label.key");
    if (!label) return;
    activate(criteria.indexOf(label.closest("[data-criterion]")));
    setTimeout(() => activate(active + 1));
  });

  form.addEventListener("focusin", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (!criterion || event.target.matches("input[type=radio]:not(:focus-visible)")) return;
    active = criteria.indexOf(criterion);
    show();
  });

  form.addEventListener("change", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (!criterion) return;
    if (event.target.type === "radio") reason(criterion).value = "";
    changed(criterion);
  });

  // A reason stands in place of a value.
  form.addEventListener("input", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (!event.target.closest("[data-unscored]")) return;
    if (event.target.value.trim()) radios(criterion).forEach((radio) => (radio.checked = false));
    changed(criterion);
  });

  form.addEventListener("submit", (event) => {
    if (!leaveNothingMissing()) {
      event.preventDefault();
      return;
    }
    say("Saving …");
    if (!tell("rate:complete")) event.preventDefault();
  });

  function begin() {
    const first = criteria.findIndex((criterion) => criterion.hasAttribute("data-missing") || !answered(criterion));
    activate(first < 0 ? 0 : first);
  }

  document.addEventListener("focusin", follow);
  document.addEventListener("click", follow);
  form.addEventListener("rate:filled", show);
  form.addEventListener("rate:item", () => {
    gather();
    for (const criterion of criteria) {
      criterion.removeAttribute("data-missing");
      criterion.querySelector(".rating__error")?.remove();
      for (const fold of criterion.querySelectorAll("details"))
        fold.open = [...fold.querySelectorAll("input, textarea")].some((one) => one.value);
    }
    begin();
  });

  // What the page asks, and a button for each criterion; all that is asked of turns shares one.
  function gather() {
    criteria = [...form.querySelectorAll("[data-criterion]")];
    const turns = criteria.filter((criterion) => criterion.dataset.ofTurn);
    const rest = criteria.filter((criterion) => !criterion.dataset.ofTurn).map((criterion) => [criterion]);
    stepGroups = [...(turns.length ? [turns] : []), ...rest].map((group, index) => [step(group, index), group]);
    steps.replaceChildren(...stepGroups.map(([button]) => button));
    steps.hidden = stepGroups.length < 2;
    form.toggleAttribute("data-with-turns", turns.length > 0);
  }

  function step(group, index) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = index + 1;
    if (group.length === 1) button.setAttribute("aria-label", name(group[0]));
    button.addEventListener("click", () => {
      const first = group.find((criterion) => !answered(criterion)) || group[0];
      activate(criteria.indexOf(first));
    });
    return button;
  }

  gather();
  for (const button of document.querySelectorAll("[data-keys-open]")) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }
  form.dataset.live = "";
  for (const button of document.querySelectorAll("[data-tell]")) {
    button.hidden = false;
    button.addEventListener("click", () => tell(button.dataset.tell));
  }
  begin();
  window.scrollTo(0, 0);
})();
