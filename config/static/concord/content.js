// Texts that are shown rendered: `r` shows them as they are written. And where a place on the page stands in the source:
// pieces carry data-start and data-end, offsets in characters (code points) of the part's source text. The text of a piece
// is the source's, but for one with data-whole, which is marked as one.
(() => {
  "use strict";
  let written = new URLSearchParams(location.search).get("form") === "plain";

  const count = (text) => [...text.replace(/\r\n?/g, "\n")].length;
  const element = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

  // The form of a part that is on the page: rendered, as it is written, or the part itself where there is only one.
  const visible = (part) => part.querySelector("[data-shown]:not([hidden]), [data-written]:not([hidden])") || part;
  const source = (part) => (part.querySelector("[data-written]") || part).textContent;
  const pieces = (part) => [...visible(part).querySelectorAll("[data-start]")];

  function before(root, node, offset) {
    const range = document.createRange();
    range.selectNodeContents(root);
    range.setEnd(node, offset);
    return count(range.toString());
  }

  function within(piece, node, offset, isEnd) {
    if (piece.hasAttribute("data-whole")) return Number(isEnd ? piece.dataset.end : piece.dataset.start);
    return Number(piece.dataset.start) + before(piece, node, offset);
  }

  // Where a point of the page stands in the source of its part. Between pieces: where the next begins, or the last ended.
  function toSource(part, node, offset, isEnd) {
    const all = pieces(part);
    if (!all.length) return before(visible(part), node, offset);
    const inside = element(node).closest("[data-start]");
    if (inside && part.contains(inside)) return within(inside, node, offset, isEnd);
    const range = document.createRange();
    const side = (piece) => {
      range.selectNode(piece);
      return range.comparePoint(node, offset);
    };
    if (isEnd) return Number(all.filter((piece) => side(piece) > 0).at(-1)?.dataset.end ?? 0);
    return Number(all.find((piece) => side(piece) < 0)?.dataset.start ?? count(source(part)));
  }

  // The place of the n-th character below an element.
  function place(root, characters) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    let left = characters;
    let last = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const all = [...node.data];
      if (left <= all.length) return [node, all.slice(0, left).join("").length];
      left -= all.length;
      last = node;
    }
    return last && [last, last.data.length];
  }

  function rangeIn(root, start, end) {
    const [from, to] = [place(root, start), place(root, end)];
    if (!from || !to) return null;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return range;
  }

  // The ranges of the page that show these characters of the source.
  function toRanges(part, start, end) {
    const all = pieces(part);
    if (!all.length) return [rangeIn(visible(part), start, end)].filter(Boolean);
    return all
      .filter((piece) => !piece.parentElement.closest("[data-start]"))
      .filter((piece) => Number(piece.dataset.start) < end && start < Number(piece.dataset.end))
      .map((piece) => {
        const [first, last] = [Number(piece.dataset.start), Number(piece.dataset.end)];
        if (!piece.hasAttribute("data-whole"))
          return rangeIn(piece, Math.max(start, first) - first, Math.min(end, last) - first);
        const range = document.createRange();
        range.selectNodeContents(piece);
        return range;
      })
      .filter(Boolean);
  }

  // The text of a part as it is on the page, and the nodes that it stands in: [text, [[node, where it begins], …]].
  function words(part) {
    const walker = document.createTreeWalker(visible(part), NodeFilter.SHOW_TEXT);
    const nodes = [];
    let [text, block] = ["", null];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest("[data-whole]")) continue;
      const own = node.parentElement.closest("p, li, td, th, pre, blockquote, div");
      if (own !== block) text += "\n";
      block = own;
      nodes.push([node, text.length]);
      text += node.data;
    }
    return [text, nodes];
  }

  // The range of some characters (code units) of such a text.
  function rangeOf(nodes, start, end) {
    const at = (place) => nodes.findLast(([, begins]) => begins <= place);
    const [[first, from], [last, to]] = [at(start), at(end - 1)];
    const range = document.createRange();
    range.setStart(first, start - from);
    range.setEnd(last, end - to);
    return range;
  }

  function show() {
    for (const node of document.querySelectorAll("[data-shown]")) node.hidden = written;
    for (const node of document.querySelectorAll("[data-written]")) node.hidden = !written;
    for (const label of document.querySelectorAll("[data-written-label]"))
      label.textContent = written ? gettext("Show as its readers saw it") : gettext("Show as it is written");
    document.dispatchEvent(new Event("content:form"));
  }

  function toggle() {
    written = !written;
    show();
  }

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-written-toggle]")) return;
    event.preventDefault();
    toggle();
  });
  // On the window: a page's own keys come first.
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.key !== "r") return;
    if (event.target.matches("input:not([type=radio]), textarea, select") || document.querySelector("dialog[open]")) return;
    if (document.querySelector("[data-written-toggle]")) toggle();
  });
  document.addEventListener("rate:item", () => written && show());

  window.concordContent = { count, rangeOf, source, toRanges, toSource, words };
})();
