// Responses one at a time behind tabs, where there is no room to show them beside each other.
(() => {
  "use strict";
  const narrow = matchMedia("(max-width: 47.99rem)");
  const sides = () => [...document.querySelectorAll("[data-item] .pair > [data-side]")];
  const tabsOf = (pair) => [...pair.querySelectorAll("[role=tab]")];

  function show(name) {
    const pair = document.querySelector("[data-item] .pair");
    if (!pair?.querySelector("[role=tablist]")) return;
    for (const side of sides()) side.toggleAttribute("data-behind", side.dataset.side !== name);
    for (const tab of tabsOf(pair)) {
      const isShown = tab.dataset.shows === name;
      tab.setAttribute("aria-selected", isShown);
      tab.tabIndex = isShown ? 0 : -1;
    }
  }

  function makeTab({ id, dataset }) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.className = "pair__tab";
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", id);
    tab.dataset.shows = dataset.side;
    tab.textContent = fillIn(gettext("Response %(side)s"), { side: dataset.side });
    tab.addEventListener("click", () => show(dataset.side));
    return tab;
  }

  function build() {
    const pair = document.querySelector("[data-item] .pair");
    if (!pair) return;
    pair.querySelector("[role=tablist]")?.remove();
    const shown = sides();
    const useTabs = narrow.matches && shown.length > 1;
    for (const side of shown) {
      side.id = `response-${side.dataset.side}`;
      side.setAttribute("role", useTabs ? "tabpanel" : "group");
      side.removeAttribute("data-behind");
    }
    if (!useTabs) return;
    const list = document.createElement("div");
    list.className = "pair__tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", gettext("Responses"));
    list.append(...shown.map(makeTab));
    list.addEventListener("keydown", walk);
    pair.prepend(list);
    show(shown[0].dataset.side);
    follow();
  }

  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const tabs = [...event.currentTarget.children];
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    show(next.dataset.shows);
    next.focus();
  }

  // The response that is being rated is the one to see.
  function follow() {
    const rated = document.querySelector("[data-item] .pair > [data-rated-now]");
    if (rated) show(rated.dataset.side);
  }

  const form = document.querySelector("form[data-rate]");
  narrow.addEventListener("change", build);
  form?.addEventListener("rate:item", build);
  form?.addEventListener("rate:active", follow);
  build();
})();
