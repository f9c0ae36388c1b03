// Evidence: words of the item that justify the value of the active criterion. Marked with `e`: what is selected, or else
// the turn that is walked to with j and k. Offsets count characters (code points), as the server does.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;
  const shown = typeof Highlight === "function" ? new Highlight() : null;
  if (shown) CSS.highlights.set("evidence", shown);

  const activeOne = () => form.querySelector("[data-criterion][data-active]");
  const input = (criterion) => criterion.querySelector("[data-evidence-input]");
  const marks = (criterion) => JSON.parse(input(criterion).value || "[]");
  const spans = (criterion) => JSON.parse(criterion.querySelector("[data-spans]")?.value || "[]");
  const partNode = (name) => document.querySelector(`[data-item] [data-part="${name}"]`);
  const { count, source, toRanges, toSource } = window.concordContent;
  const partOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("[data-item] [data-part]");

  function selected() {
    const selection = window.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const part = partOf(range.startContainer);
    if (!part || part !== partOf(range.endContainer)) return null;
    const start = toSource(part, range.startContainer, range.startOffset, false);
    return { part: part.dataset.part, start, end: toSource(part, range.endContainer, range.endOffset, true) };
  }

  function walked() {
    const part = document.activeElement?.closest?.("[data-turn]")?.querySelector("[data-part]");
    return part && { part: part.dataset.part, start: 0, end: count(source(part)) };
  }

  function write(criterion, found) {
    input(criterion).value = found.length ? JSON.stringify(found) : "";
    input(criterion).dispatchEvent(new Event("input", { bubbles: true }));
    draw();
  }

  function mark() {
    const found = selected() || walked();
    const criterion = activeOne();
    if (!found || !criterion || found.end <= found.start) return;
    const others = marks(criterion).filter((one) => one.part !== found.part || one.start !== found.start || one.end !== found.end);
    write(criterion, [...others, found]);
    window.getSelection().removeAllRanges();
    criterion.querySelector("[data-evidence-fold]").open = true;
  }

  // The places on the page of a mark, and its words in the source.
  const rangesOf = (one) => (partNode(one.part) ? toRanges(partNode(one.part), one.start, one.end) : []);
  const quoteOf = (one) => (partNode(one.part) ? [...source(partNode(one.part))].slice(one.start, one.end).join("") : "");

  function draw() {
    shown?.clear();
    for (const criterion of form.querySelectorAll("[data-criterion]")) {
      const found = marks(criterion);
      const list = criterion.querySelector("[data-evidence-list]");
      list.replaceChildren(...found.map((one, index) => entry(criterion, one, index)));
      criterion.querySelector("[data-evidence-count]").textContent = found.length || "";
      if (!criterion.hasAttribute("data-active")) continue;
      for (const range of [...found, ...spans(criterion)].flatMap(rangesOf)) shown?.add(range);
    }
  }

  function entry(criterion, one, index) {
    const line = document.createElement("li");
    const quote = document.createElement("q");
    const text = quoteOf(one);
    quote.textContent = text.length > 120 ? `${text.slice(0, 117)}…` : text;
    quote.dir = "auto";
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "button button--quiet button--small";
    remove.textContent = gettext("Remove");
    remove.addEventListener("click", () => write(criterion, marks(criterion).filter((_, other) => other !== index)));
    line.append(quote, " ", remove);
    return line;
  }

  function walk(step) {
    const turns = [...document.querySelectorAll("[data-item] [data-turn]")];
    if (!turns.length) return;
    window.getSelection().removeAllRanges();
    const here = turns.indexOf(document.activeElement?.closest?.("[data-turn]"));
    const next = turns[Math.max(0, Math.min(turns.length - 1, here < 0 ? (step > 0 ? 0 : turns.length - 1) : here + step))];
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function wordsOf(part) {
    let at = 0;
    const pieces = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(source(partNode(part)))];
    const placed = pieces.map((one) => ({ part, start: at, end: (at += count(one.segment)), isWord: one.isWordLike }));
    return placed.filter((one) => one.isWord);
  }

  // The word after what is selected, or before it; at first that of the turn walked to. Only in parts that may be marked.
  function chooseWord({ step, parts }) {
    const order = [...document.querySelectorAll("[data-item] [data-part]")].map((node) => node.dataset.part);
    const words = order.filter((part) => parts.includes(part)).flatMap(wordsOf);
    const here = selected() ?? { part: order[0], start: 0, ...walked(), end: 0 };
    const compare = (one, at, other, at2) => order.indexOf(one.part) - order.indexOf(other.part) || at - at2;
    const word =
      step > 0
        ? words.find((one) => compare(here, here.end, one, one.start) <= 0)
        : words.findLast((one) => compare(one, one.end, here, here.start) <= 0);
    if (!word) return;
    const ranges = rangesOf(word);
    const [first, last] = [ranges[0], ranges.at(-1)];
    window.getSelection().setBaseAndExtent(first.startContainer, first.startOffset, last.endContainer, last.endOffset);
    first.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("rate:word", (event) => chooseWord(event.detail));
  form.addEventListener("rate:selection", (event) => (event.detail.found = selected() || walked()));
  form.addEventListener("rate:locate", (event) => (event.detail.found = quoteOf(event.detail.mark)));
  form.addEventListener("rate:mark", mark);
  form.addEventListener("rate:walk", (event) => walk(event.detail));
  form.addEventListener("click", (event) => event.target.closest("[data-evidence-mark]") && mark());
  for (const kind of ["rate:item", "rate:filled", "rate:active"]) form.addEventListener(kind, draw);
  document.addEventListener("content:form", draw);
  draw();
})();
