// Responses: where two differ, sentence by sentence (`d`, then `.` and `,`), and long ones scrolled together (`s`).
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;
  const canShow = typeof Highlight === "function";
  const [shown, here] = canShow ? [new Highlight(), new Highlight()] : [null, null];
  if (canShow) {
    CSS.highlights.set("difference", shown);
    CSS.highlights.set("difference-here", here);
  }
  const LARGEST = 4_000_000; // cells of the comparison; beyond that words are compared as a set
  const VERSIONS = 0.5; // share of common words from which on two sentences are versions of one another
  let on = false;
  let together = false;
  let differences = []; // of each the ranges, those of A first
  let place = -1;

  const texts = () => [...document.querySelectorAll("[data-item] .pair__text")];
  const WORD = /[\p{L}\p{N}\p{M}'’]+|\p{Extended_Pictographic}|[\u3040-\u9fff]/gu;

  function words({ text, start }) {
    return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
      word: word.toLowerCase(),
      start: start + index,
      end: start + index + word.length,
    }));
  }

  function sentences(text) {
    return [...text.matchAll(/[^.!?。！？\n]*[.!?。！？]+["'”’)]*|[^.!?。！？\n]+/gu)]
      .map((found) => ({ text: found[0], start: found.index }))
      .map((one) => ({ ...one, words: words(one) }))
      .filter((one) => one.words.length)
      .map((one) => ({ ...one, key: one.words.map(({ word }) => word).join(" ") }));
  }

  // For each entry whether it stands, in order, in the other list as well (longest common subsequence).
  function common(a, b) {
    if (a.length * b.length > LARGEST) {
      const [inA, inB] = [new Set(a), new Set(b)];
      return [a.map((word) => inB.has(word)), b.map((word) => inA.has(word))];
    }
    const wide = b.length + 1;
    const best = new Uint16Array((a.length + 1) * wide);
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        best[i * wide + j] =
          a[i] === b[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
    const both = [new Array(a.length).fill(false), new Array(b.length).fill(false)];
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      if (a[i] === b[j]) {
        both[0][i++] = true;
        both[1][j++] = true;
      } else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) i++;
      else j++;
    }
    return both;
  }

  // Sentences that only one of the two has, those beside each other as pairs: [of A or undefined, of B or undefined].
  function changes(a, b) {
    const [inB, inA] = common(
      a.map(({ key }) => key),
      b.map(({ key }) => key),
    );
    const found = [];
    for (let i = 0, j = 0; i < a.length || j < b.length; i++, j++) {
      const [startA, startB] = [i, j];
      while (i < a.length && !inB[i]) i++;
      while (j < b.length && !inA[j]) j++;
      for (let k = 0; k < Math.max(i - startA, j - startB); k++)
        found.push([startA + k < i ? a[startA + k] : undefined, startB + k < j ? b[startB + k] : undefined]);
    }
    return { found, equal: inB.some(Boolean) };
  }

  // What differs between two versions of a sentence, as places in each; null where they are no versions of one.
  function versions(one, other) {
    if (!one || !other) return null;
    const both = common(
      one.words.map(({ word }) => word),
      other.words.map(({ word }) => word),
    );
    const share = both[0].filter(Boolean).length / Math.max(one.words.length, other.words.length);
    return share < VERSIONS ? null : [one, other].map((sentence, side) => sentence.words.filter((_, index) => !both[side][index]));
  }

  const whole = (sentence) => (sentence ? [{ start: sentence.words[0].start, end: sentence.words.at(-1).end }] : []);

  const range = (nodes, { start, end }) => window.concordContent.rangeOf(nodes, start, end);

  function compare(nodes) {
    const read = nodes.map((node) => window.concordContent.words(node));
    const { found, equal } = changes(...read.map(([text]) => sentences(text)));
    const pairs = found.map(([one, other]) => versions(one, other));
    if (!equal && !pairs.some(Boolean)) return null; // nothing in common: nothing to show
    const marks = found.map(([one, other], index) => pairs[index] || [whole(one), whole(other)]);
    return marks.map((sides) => sides.flatMap((marked, side) => marked.map((one) => range(read[side][1], one)))).filter((ranges) => ranges.length);
  }

  function draw() {
    shown?.clear();
    here?.clear();
    place = -1;
    differences = [];
    const nodes = texts();
    document.querySelector("[data-differences]")?.setAttribute("aria-pressed", on);
    const found = on && nodes.length === 2 ? compare(nodes) : [];
    differences = found || [];
    for (const ranges of differences) for (const one of ranges) shown?.add(one);
    tell(found);
  }

  function tell(found) {
    const n = differences.length;
    const here = place < 0 ? ngettext("%(n)s difference", "%(n)s differences", n) : gettext("%(place)s of %(n)s");
    const many = n === 0 ? gettext("No difference") : fillIn(here, { place: place + 1, n });
    const text = !on ? "" : found === null ? gettext("All differs") : many;
    const told = document.querySelector("[data-difference-count]");
    if (told) told.textContent = text;
    for (const button of document.querySelectorAll("[data-difference]")) button.hidden = n === 0;
  }

  function go(step) {
    if (!differences.length) return;
    place = place < 0 ? (step > 0 ? 0 : differences.length - 1) : (place + step + differences.length) % differences.length;
    here?.clear();
    for (const one of differences[place]) here?.add(one);
    for (const one of differences[place]) bring(one);
    tell(differences);
  }

  // Into view, within a response that scrolls by itself and within the window.
  function bring(one) {
    const box = () => one.getBoundingClientRect();
    const scroller = one.startContainer.parentElement.closest(".pair__text");
    if (scroller && scroller.scrollHeight > scroller.clientHeight)
      scroller.scrollTop += box().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3;
    if (box().top < 80 || box().bottom > innerHeight - 80) window.scrollBy(0, box().top - innerHeight / 3);
  }

  function link() {
    const nodes = texts();
    for (const tool of document.querySelectorAll("[data-differences], [data-together]")) tool.hidden = false;
    document.querySelector("[data-together]")?.setAttribute("aria-pressed", together);
    document.querySelector("[data-item] .pair")?.toggleAttribute("data-scrolls", together);
    let leader = null;
    for (const node of nodes) {
      if (together) node.tabIndex = 0;
      else node.removeAttribute("tabindex");
      node.onscroll = () => {
        const others = nodes.filter((one) => one !== node);
        if (!together || !others.length || (leader && leader !== node)) return;
        leader = node;
        const share = node.scrollTop / Math.max(1, node.scrollHeight - node.clientHeight);
        for (const other of others) other.scrollTop = share * (other.scrollHeight - other.clientHeight);
        requestAnimationFrame(() => requestAnimationFrame(() => (leader = null)));
      };
    }
  }

  form.addEventListener("rate:differences", () => {
    if (!document.querySelector("[data-differences]")) return; // there are not two
    on = !on;
    draw();
  });
  form.addEventListener("rate:difference", (event) => {
    if (!document.querySelector("[data-differences]")) return;
    if (!on) form.dispatchEvent(new Event("rate:differences"));
    go(event.detail);
  });
  form.addEventListener("rate:together", () => {
    together = !together;
    link();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-differences]")) form.dispatchEvent(new Event("rate:differences"));
    if (event.target.closest("[data-together]")) form.dispatchEvent(new Event("rate:together"));
    const step = event.target.closest("[data-difference]")?.dataset.difference;
    if (step) form.dispatchEvent(new CustomEvent("rate:difference", { detail: Number(step) }));
  });
  document.addEventListener("content:form", draw);
  form.addEventListener("rate:item", () => {
    draw();
    link();
  });
  link();
})();
