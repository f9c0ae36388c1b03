// Two responses: what differs, on demand (`d`), and long ones scrolled together (`s`).
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;
  const shown = typeof Highlight === "function" ? new Highlight() : null;
  if (shown) CSS.highlights.set("difference", shown);
  const LARGEST = 4_000_000; // cells of the comparison; beyond that words are compared as a set
  let on = false;
  let together = false;

  const texts = () => [...document.querySelectorAll("[data-item] .pair__text")];
  const words = (text) => [...text.matchAll(/[\p{L}\p{N}\p{M}'’]+|\p{Extended_Pictographic}|[\u3040-\u9fff]/gu)];

  // For each word whether it stands, in order, in the other text as well (longest common subsequence).
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

  function draw() {
    shown?.clear();
    const nodes = texts();
    document.querySelector("[data-differences]")?.setAttribute("aria-pressed", on);
    if (!on || nodes.length !== 2 || !nodes.every((node) => node.firstChild)) return;
    const found = nodes.map((node) => words(node.firstChild.data));
    common(...found.map((all) => all.map(([word]) => word.toLowerCase()))).forEach((both, side) =>
      found[side].forEach((word, index) => {
        if (both[index]) return;
        const range = document.createRange();
        range.setStart(nodes[side].firstChild, word.index);
        range.setEnd(nodes[side].firstChild, word.index + word[0].length);
        shown?.add(range);
      }),
    );
  }

  function link() {
    const nodes = texts();
    document.querySelector("[data-together]")?.setAttribute("aria-pressed", together);
    document.querySelector("[data-item] .pair")?.toggleAttribute("data-scrolls", together);
    let leader = null;
    for (const node of nodes) {
      if (together) node.tabIndex = 0;
      else node.removeAttribute("tabindex");
      node.onscroll = () => {
        const other = nodes.find((one) => one !== node);
        if (!together || !other || (leader && leader !== node)) return;
        leader = node;
        const share = node.scrollTop / Math.max(1, node.scrollHeight - node.clientHeight);
        other.scrollTop = share * (other.scrollHeight - other.clientHeight);
        requestAnimationFrame(() => requestAnimationFrame(() => (leader = null)));
      };
    }
  }

  form.addEventListener("rate:differences", () => {
    on = !on;
    draw();
  });
  form.addEventListener("rate:together", () => {
    together = !together;
    link();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-differences]")) form.dispatchEvent(new Event("rate:differences"));
    if (event.target.closest("[data-together]")) form.dispatchEvent(new Event("rate:together"));
  });
  form.addEventListener("rate:item", () => {
    draw();
    link();
  });
})();
