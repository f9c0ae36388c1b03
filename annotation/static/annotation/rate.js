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
  const name = (criterion) => criterion.querySelector("legend > span:nth-child(2)").textContent;
  const own = (criterion) => criterion.querySelector("[data-answer]");
  const original = (criterion) => criterion.querySelector("[data-original]")?.value.trim() ?? "";
  const isFilled = (criterion) => !["", original(criterion)].includes(own(criterion)?.value.trim() ?? "");
  const answered = (criterion) =>
    radios(criterion).some((radio) => radio.checked) || isFilled(criterion) || reason(criterion).value.trim() !== "";
  const isDone = (criterion) => criterion.hidden || answered(criterion);
  const isMissing = (criterion) => !isDone(criterion) && !criterion.hasAttribute("data-optional");

  function show() {
    criteria.forEach((criterion, index) => {
      criterion.toggleAttribute("data-active", index === active);
      criterion.toggleAttribute("data-answered", answered(criterion));
    });
    for (const [button, group] of stepGroups) {
      const left = group.filter((criterion) => !isDone(criterion));
      button.hidden = group.every((criterion) => criterion.hidden);
      button.toggleAttribute("data-answered", !left.length);
      if (group.length > 1) {
        const told = { done: group.length - left.length, total: group.length };
        button.textContent = fillIn(gettext("Turns %(done)s / %(total)s"), told);
      }
      if (group.includes(criteria[active])) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    for (const turn of document.querySelectorAll("[data-item] [data-turn]"))
      turn.toggleAttribute("data-rated-now", turn.dataset.turn === criteria[active]?.dataset.ofTurn);
    for (const side of document.querySelectorAll("[data-side]")) {
      const isChosen = forSide(side.dataset.side).some((radio) => radio.checked);
      side.toggleAttribute("data-chosen", isChosen);
      side.toggleAttribute("data-rated-now", side.dataset.side === criteria[active]?.dataset.ofResponse);
      side.querySelector("[data-choose]")?.setAttribute("aria-pressed", isChosen);
    }
  }

  // The answers of the active criterion that are for one side, or those of the first where it is asked of none.
  function forSide(side) {
    const asked = [criteria[active], ...criteria].find((one) => one && radios(one).some((radio) => isFor(radio, side)));
    return asked ? radios(asked).filter((radio) => isFor(radio, side)) : [];
  }

  const isFor = (radio, side) => radio.value.split(":")[0] === side;

  // By mouse: a little better first, and much better with the next click, where that is asked.
  function choose(side) {
    const found = forSide(side).sort((one, other) => one.value.endsWith("much") - other.value.endsWith("much"));
    const next = found[found.findIndex((radio) => radio.checked) + 1];
    if (next) pick(next, false);
  }

  function activate(index) {
    if (!criteria.length) return;
    const step = index < active ? -1 : 1;
    let there = Math.max(0, Math.min(index, criteria.length - 1));
    while (criteria[there].hidden && criteria[there + step]) there += step; // what is not asked is passed over
    active = criteria[there].hidden ? active : there;
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
    const missing = criteria.filter(isMissing);
    if (!missing.length) return true;
    missing.forEach((criterion) => criterion.setAttribute("data-missing", ""));
    tell("rate:missing");
    activate(criteria.indexOf(missing[0]));
    const told = missing.length > 1 ? gettext("Missing: %(name)s and %(n)s more") : gettext("Missing: %(name)s");
    say(fillIn(told, { name: name(missing[0]), n: missing.length - 1 }));
    return false;
  }

  function changed(criterion) {
    criterion.removeAttribute("data-missing");
    say(criteria.some(isMissing) ? "" : gettext("Complete"));
    show();
  }

  function pick(radio, andGoOn = true) {
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    if (andGoOn) activate(active + 1);
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
    arrowright: () => activate(active + 1),
    arrowleft: () => activate(active - 1),
    g: () => (criteria[active].querySelector("[data-guideline]") || {}).toggleAttribute?.("open"),
    c: () => openAndFocus("[data-note]"),
    x: () => openAndFocus("[data-unscored]"),
    h: () => activate(active + 1),
    q: () => document.getElementById("skip")?.requestSubmit(),
    f: () => tell("rate:act", "flag"),
    l: () => tell("rate:act", "later"),
    m: () => tell("rate:message"),
    v: () => tell("rate:decline"),
    i: () => document.querySelector("[data-my-items]")?.click(),
    u: () => tell("rate:undo"),
    e: () => tell("rate:mark"),
    j: () => tell("rate:walk", 1),
    k: () => tell("rate:walk", -1),
    d: () => tell("rate:differences"),
    ",": () => tell("rate:difference", -1),
    ".": () => tell("rate:difference", 1),
    s: () => tell("rate:together"),
    p: () => tell("rate:pause"),
    "?": () => help.showModal(),
  };

  // Other scripts of the page do the rest. False if one of them has taken it over.
  function tell(what, detail) {
    return form.dispatchEvent(new CustomEvent(what, { detail, cancelable: true }));
  }

  const takesText = (node) => node.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select");
  const takesArrows = (node) => node.matches("input");

  // Enter in an answer of one line goes on, and hands in where nothing is missing.
  function leaveAnswer(input) {
    input.blur();
    if (criteria.some((criterion, index) => index !== active && isMissing(criterion))) activate(active + 1);
    else form.requestSubmit();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    const isWalking = key.startsWith("arrow") || ["j", "k", ",", "."].includes(key);
    if (event.repeat && !isWalking) return; // a key held down answers one criterion, not those after it
    if (takesText(event.target)) {
      if (key === "escape") event.target.blur();
      if (key !== "enter" || !event.target.matches("input[data-answer]")) return;
      event.preventDefault();
      return leaveAnswer(event.target);
    }
    if (key === "enter") {
      if (event.target.closest("button, a, summary")) return;
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (key.startsWith("arrow") && (event.shiftKey || takesArrows(event.target))) return; // Shift changes the selection
    const detail = { criterion: criteria[active], key };
    if (criteria[active] && !form.dispatchEvent(new CustomEvent("rate:key", { detail, cancelable: true }))) {
      if (!detail.typed) event.preventDefault();
      return;
    }
    const radio = radioFor(key);
    const command = radio ? undefined : commands[key];
    if (!command && !radio) return;
    event.preventDefault();
    if (command) command();
    else pick(radio);
  });

  // A response is chosen by its button, and by a click on it that neither selects words nor lets go of any; whether
  // a click on the text is the first of a double click shows a moment later.
  const DOUBLE = 250; // ms
  let hadSelection = false;
  let waiting = 0;
  document.addEventListener("pointerdown", () => (hadSelection = !getSelection().isCollapsed), { capture: true });
  document.addEventListener("click", (event) => {
    clearTimeout(waiting); // of a first click, which this one makes a double click
    const side = event.target.closest("[data-live-pair] [data-side]")?.dataset.side;
    if (!side || hadSelection || event.detail > 1 || event.target.closest("a, summary")) return;
    if (event.detail) event.target.closest("[data-choose]")?.blur(); // Enter submits again
    if (!event.target.closest(".pair__text")) return choose(side);
    const item = form.action;
    waiting = setTimeout(() => getSelection().isCollapsed && form.action === item && choose(side), DOUBLE);
  });

  // A click on a key moves on, as the number does; arrow keys within a scale only choose.
  form.addEventListener("click", (event) => {
    const label = event.target.closest("label.key");
    if (!label) return;
    activate(criteria.indexOf(label.closest("[data-criterion]")));
    if (label.control?.type === "radio") setTimeout(() => activate(active + 1));
  });

  // What is pressed with the mouse must not move under it: its criterion becomes the active one when it has changed.
  const PRESSED = "input:is([type=radio], [type=checkbox], [type=range]):not(:focus-visible), select:not(:focus-visible), button";

  form.addEventListener("rate:next", () => activate(active + 1));

  form.addEventListener("focusin", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (!criterion || event.target.matches(PRESSED)) return;
    active = criteria.indexOf(criterion);
    show();
  });

  form.addEventListener("change", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (!criterion) return;
    if (!event.target.closest(".rating__more")) reason(criterion).value = "";
    if ("control" in event.target.dataset) active = criteria.indexOf(criterion);
    changed(criterion);
  });

  // A reason stands in place of a value.
  form.addEventListener("input", (event) => {
    const criterion = event.target.closest("[data-criterion]");
    if (event.target.matches("[data-answer]")) {
      if (isFilled(criterion)) reason(criterion).value = "";
      return changed(criterion);
    }
    if (!event.target.closest("[data-unscored]")) return;
    if (event.target.value.trim()) clear(criterion);
    changed(criterion);
  });

  function clear(criterion) {
    radios(criterion).forEach((radio) => (radio.checked = false));
    if (!own(criterion)) return;
    own(criterion).value = "";
    own(criterion).dispatchEvent(new Event("rate:cleared", { bubbles: true }));
  }

  form.addEventListener("submit", (event) => {
    if (!leaveNothingMissing()) {
      event.preventDefault();
      return;
    }
    say(gettext("Saving …"));
    if (!tell("rate:complete")) event.preventDefault();
  });

  function begin() {
    const first = criteria.findIndex((criterion) => criterion.hasAttribute("data-missing") || !isDone(criterion));
    activate(first < 0 ? 0 : first);
  }

  document.addEventListener("focusin", follow);
  document.addEventListener("click", follow);
  form.addEventListener("rate:filled", show);
  form.addEventListener("rate:refused", ({ detail }) => {
    const refused = criteria.filter((criterion) => detail.some((field) => criterion.id === `rating-${field}`));
    refused.forEach((criterion) => criterion.setAttribute("data-missing", ""));
    if (refused.length) activate(criteria.indexOf(refused[0]));
  });
  form.addEventListener("rate:item", () => {
    gather();
    showChoosing();
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
    stepGroups = [...(turns.length ? [turns] : []), ...rest].map((group) => [step(group), group]);
    steps.replaceChildren(...stepGroups.map(([button]) => button));
    steps.hidden = stepGroups.length < 2;
    form.toggleAttribute("data-with-turns", turns.length > 0);
  }

  function step(group) {
    const button = document.createElement("button");
    button.type = "button";
    if (group.length === 1) {
      const number = group[0].querySelector(".rating__number").textContent;
      button.textContent = number;
      button.setAttribute("aria-label", `${number} ${name(group[0])}`);
    }
    button.addEventListener("click", () => {
      const first = group.find((criterion) => !answered(criterion)) || group[0];
      activate(criteria.indexOf(first));
    });
    return button;
  }

  function showChoosing() {
    const pair = document.querySelector("[data-item] .pair");
    const canChoose = Boolean(pair) && forSide("A").length > 0;
    document.querySelector("[data-item]").toggleAttribute("data-live-pair", canChoose);
    for (const button of document.querySelectorAll("[data-choose]")) button.hidden = !canChoose;
  }

  gather();
  showChoosing();
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
