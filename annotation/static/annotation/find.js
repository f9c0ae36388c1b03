// data-find: a search within the context of an item. What does not match is folded away, what does is highlighted; an
// empty search puts everything back as it was. Without this script the context is simply there.
(() => {
  "use strict";
  const shown = typeof Highlight === "function" ? new Highlight() : null;
  if (shown) CSS.highlights.set("found", shown);
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // The plain letters of a text, each with where it stands there: one letter may become several, and a mark none.
  function spell(text) {
    const letters = [];
    let from = 0;
    for (const char of text) {
      const to = from + char.length;
      const found = plain(char);
      for (const letter of found.split("")) letters.push({ letter, from, to });
      if (!found && letters.length) letters.at(-1).to = to;
      from = to;
    }
    return letters;
  }

  // What is shown or hidden as one: a fact with its term, an entry of a list, a text.
  function pieces(context) {
    const facts = [...context.querySelectorAll("dt")].map((term) => [term, term.nextElementSibling]);
    const rest = [...context.querySelectorAll("li, p")].map((node) => [node]);
    return [...facts, ...rest];
  }

  function mark(node, wanted) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const letters = spell(walker.currentNode.data);
      const text = letters.map((one) => one.letter).join("");
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, letters[at].from);
        range.setEnd(walker.currentNode, letters[at + wanted.length - 1].to);
        shown?.add(range);
      }
    }
  }

  function restore(context) {
    for (const fold of context.querySelectorAll("details")) {
      if (fold.dataset.was) fold.open = fold.dataset.was === "open";
      delete fold.dataset.was;
      fold.hidden = false;
    }
    for (const piece of pieces(context)) for (const node of piece) node.hidden = false;
    context.removeAttribute("data-searching");
  }

  function find(input) {
    const context = input.closest("[data-remember-folds]");
    const count = context.querySelector("[data-find-count]");
    const wanted = plain(input.value.trim());
    shown?.clear();
    if (!wanted) {
      count.textContent = "";
      return restore(context);
    }
    context.setAttribute("data-searching", "");
    let n = 0;
    for (const piece of pieces(context)) {
      const is = plain(piece.map((node) => node.textContent).join(" ")).includes(wanted);
      n += is;
      for (const node of piece) {
        node.hidden = !is;
        if (is) mark(node, wanted);
      }
    }
    for (const fold of context.querySelectorAll("details")) {
      fold.dataset.was ??= fold.open ? "open" : "closed";
      fold.hidden = !fold.querySelector("dt:not([hidden]), li:not([hidden]), p:not([hidden])");
      fold.open = !fold.hidden;
    }
    count.textContent = n ? fillIn(gettext("%(n)s found"), { n }) : gettext("Nothing found");
  }

  function begin() {
    for (const part of document.querySelectorAll("[data-find]")) part.hidden = false;
  }

  document.addEventListener("input", (event) => event.target.matches("[data-find] input") && find(event.target));
  document.addEventListener("keydown", (event) => {
    const input = event.target.closest?.("[data-find] input");
    if (input && event.key === "Escape") {
      input.value = "";
      find(input);
      input.blur();
    } else if (event.key === "/" && !event.target.matches("input, textarea, select") && !event.ctrlKey && !event.metaKey) {
      const search = document.querySelector("[data-find] input");
      if (!search || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      for (let fold = search.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      search.focus();
    }
  });
  // Something new may be the next item, or only a part of this page while somebody searches here.
  document.addEventListener("htmx:load", () => {
    shown?.clear();
    begin();
    for (const input of document.querySelectorAll("[data-find] input")) if (input.value) find(input);
  });
  begin();
})();
