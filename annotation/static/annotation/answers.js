// Answers that are no choice: numbers, several of several, rankings, spans, texts and rewrites. Each criterion keeps its
// answer in one input (data-answer); the controls beside it are another way to see and to change that. Also hides what
// is asked only if another criterion has a value.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;

  const own = (criterion) => criterion.querySelector("[data-answer]");
  const all = (criterion, what) => [...criterion.querySelectorAll(what)];
  const criteria = () => all(form, "[data-criterion]");

  function set(criterion, value) {
    own(criterion).value = value;
    own(criterion).dispatchEvent(new Event("input", { bubbles: true }));
  }

  function next() {
    form.dispatchEvent(new Event("rate:next"));
  }

  // ---------- several of several ----------

  const several = {
    sync(criterion) {
      const chosen = own(criterion).value.split("|");
      for (const box of all(criterion, "[data-boxes] input")) box.checked = chosen.includes(box.value);
    },
    change(criterion, box) {
      for (const other of all(criterion, "[data-boxes] input"))
        if (box.checked && (box.value === "-") !== (other.value === "-")) other.checked = false;
      set(criterion, all(criterion, "[data-boxes] input:checked").map((one) => one.value).join("|"));
    },
    key(criterion, key) {
      const box = all(criterion, "[data-boxes] input").find((one) => one.dataset.key === key);
      if (!box) return false;
      box.click();
      return true;
    },
  };

  // ---------- numbers ----------

  const number = {
    sync(criterion) {
      const slider = criterion.querySelector("[data-slider]");
      if (!slider) return;
      slider.hidden = false;
      slider.value = own(criterion).value || slider.min;
      slider.toggleAttribute("data-unset", own(criterion).value === "");
    },
    change(criterion, slider) {
      if (!("slider" in slider.dataset)) return;
      set(criterion, slider.value);
      slider.removeAttribute("data-unset");
    },
    key(criterion, key) {
      if (!/^[0-9.-]$/.test(key)) return false;
      own(criterion).focus();
      own(criterion).select();
      return "typed"; // the key itself goes into the input
    },
  };

  // ---------- rankings ----------

  const ranks = (criterion) => all(criterion, "[data-side-ranked]");
  const ends = (criterion) => ["best", "worst"].map((end) => criterion.querySelector(`[data-end="${end}"]`));
  const isBestWorst = (criterion) => criterion.querySelector("[data-ranks]").dataset.ranks === "best-worst";

  function sidesOf(criterion) {
    const [best] = ends(criterion);
    return best ? [...best.options].map((one) => one.value).filter(Boolean) : ranks(criterion).map((one) => one.dataset.sideRanked);
  }

  // What the selects say, as "B>A=C"; nothing while something is missing.
  function ranked(criterion) {
    if (isBestWorst(criterion)) {
      const [best, worst] = ends(criterion).map((one) => one.value);
      if (!best || !worst) return "";
      const rest = sidesOf(criterion).filter((side) => side !== best && side !== worst);
      return [best, rest.join("="), worst].filter(Boolean).join(">");
    }
    const given = ranks(criterion).map((one) => [Number(one.value), one.dataset.sideRanked]);
    if (given.some(([rank]) => !rank)) return "";
    const places = [...new Set(given.map(([rank]) => rank))].sort((a, b) => a - b);
    return places.map((place) => given.filter(([rank]) => rank === place).map(([, side]) => side).join("=")).join(">");
  }

  const ranking = {
    sync(criterion) {
      const value = own(criterion).value;
      const groups = value ? value.split(">").map((group) => group.split("=")) : [];
      if (isBestWorst(criterion)) {
        const [best, worst] = ends(criterion);
        best.value = groups[0]?.[0] || "";
        worst.value = groups.at(-1)?.[0] || "";
        return;
      }
      for (const select of ranks(criterion)) {
        const place = groups.findIndex((group) => group.includes(select.dataset.sideRanked));
        select.value = place < 0 ? "" : String(place + 1);
      }
    },
    change(criterion, select) {
      const strict = criterion.querySelector("[data-ranks]").dataset.ranks !== "ties";
      if (strict)
        for (const other of isBestWorst(criterion) ? ends(criterion) : ranks(criterion))
          if (other !== select && other.value === select.value) other.value = "";
      set(criterion, ranked(criterion));
    },
    // A letter, or the number of a side, ranks it next; "=" before it ties it with the last.
    key(criterion, key) {
      const tied = criterion.hasAttribute("data-tied");
      criterion.removeAttribute("data-tied");
      if (key === "=") return criterion.toggleAttribute("data-tied", criterion.querySelector("[data-ranks=ties]") !== null) || true;
      const selects = isBestWorst(criterion) ? ends(criterion) : ranks(criterion);
      if (key === "0") {
        for (const select of selects) select.value = "";
        set(criterion, "");
        return true;
      }
      const sides = sidesOf(criterion);
      const side = sides.find((one) => one.toLowerCase() === key) || sides[Number(key) - 1];
      if (!side) return false;
      if (isBestWorst(criterion)) (selects.find((one) => !one.value) || selects[1]).value = side;
      else rankNext(selects, side, tied);
      set(criterion, ranked(criterion));
      if (own(criterion).value) next();
      return true;
    },
  };

  function rankNext(selects, side, tied) {
    const select = selects.find((one) => one.dataset.sideRanked === side);
    const last = Math.max(0, ...selects.filter((one) => one !== select).map((one) => Number(one.value)));
    select.value = String(tied && last ? last : last + 1);
  }

  // ---------- spans ----------

  const spansOf = (criterion) => JSON.parse(own(criterion).value || "[]");
  const severities = (criterion) => criterion.querySelector("[data-spans-list]").dataset.severities.split("|").filter(Boolean);

  function ask(what, detail) {
    form.dispatchEvent(new CustomEvent(what, { detail }));
    return detail.found;
  }

  function writeSpans(criterion, spans) {
    set(criterion, spans.length ? JSON.stringify(spans) : "");
    spanType.sync(criterion);
    form.dispatchEvent(new Event("rate:filled"));
  }

  function addSpan(criterion, category) {
    const found = ask("rate:selection", {});
    if (!found || found.end <= found.start || !JSON.parse(own(criterion).dataset.parts).includes(found.part)) return;
    const [severity] = severities(criterion);
    const span = { ...found, category, ...(severity ? { severity } : {}) };
    const same = (one) => one.part === span.part && one.start === span.start && one.end === span.end && one.category === category;
    writeSpans(criterion, [...spansOf(criterion).filter((one) => !same(one)), span]);
    window.getSelection().removeAllRanges();
  }

  const spanType = {
    sync(criterion) {
      const spans = spansOf(criterion);
      criterion.querySelector("[data-nothing]").checked = own(criterion).value === "[]";
      criterion.querySelector("[data-spans-list]").replaceChildren(...spans.map((one, index) => entry(criterion, spans, one, index)));
    },
    change(criterion, box) {
      if ("nothing" in box.dataset) writeNothing(criterion, box.checked);
    },
    key(criterion, key) {
      if (key === "0") return criterion.querySelector("[data-nothing]").click() ?? true;
      if (key === "w" || key === "b") {
        ask("rate:word", { step: key === "w" ? 1 : -1, parts: JSON.parse(own(criterion).dataset.parts) });
        return true;
      }
      const button = all(criterion, "[data-mark]").find((one) => one.dataset.key === key);
      if (!button) return false;
      addSpan(criterion, button.dataset.mark);
      return true;
    },
  };

  function writeNothing(criterion, isChecked) {
    set(criterion, isChecked ? "[]" : "");
    spanType.sync(criterion);
    form.dispatchEvent(new Event("rate:filled"));
  }

  function entry(criterion, spans, one, index) {
    const line = document.createElement("li");
    const label = all(criterion, "[data-mark]").find((button) => button.dataset.mark === one.category);
    const what = document.createElement("strong");
    what.textContent = label?.querySelector("[data-mark-label]").textContent ?? one.category;
    const quote = document.createElement("q");
    const text = ask("rate:locate", { mark: one }) || one.quote || "";
    quote.textContent = text.length > 120 ? `${text.slice(0, 117)}…` : text;
    quote.dir = "auto";
    const others = () => spansOf(criterion).filter((_, other) => other !== index);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "button button--quiet button--small";
    remove.textContent = gettext("Remove");
    const names = { category: what.textContent, words: quote.textContent };
    remove.setAttribute("aria-label", fillIn(gettext("Remove %(category)s: %(words)s"), names));
    remove.addEventListener("click", () => writeSpans(criterion, others()));
    line.append(what, " ", quote, " ", ...severityOf(criterion, one, index), remove);
    return line;
  }

  function severityOf(criterion, one, index) {
    if (!severities(criterion).length) return [];
    const select = document.createElement("select");
    select.setAttribute("aria-label", gettext("How severe"));
    for (const name of severities(criterion)) select.add(new Option(name, name, false, name === one.severity));
    select.addEventListener("change", () => {
      const changed = spansOf(criterion).map((span, other) => (other === index ? { ...span, severity: select.value } : span));
      set(criterion, JSON.stringify(changed));
    });
    return [select, " "];
  }

  // ---------- texts ----------

  const text = {
    sync() {},
    change() {},
    key(criterion, key) {
      if (key !== "w") return false;
      own(criterion).focus();
      return true;
    },
  };
  const rewrite = {
    ...text,
    sync(criterion) {
      if (own(criterion).value === "") own(criterion).value = criterion.querySelector("[data-original]").value;
    },
  };

  // ---------- all of them ----------

  const TYPES = { several, number, ranking, spans: spanType, text, rewrite };
  const typeOf = (criterion) => TYPES[criterion.dataset.type];

  function sync() {
    for (const criterion of criteria()) {
      typeOf(criterion)?.sync(criterion);
    }
    unfold();
  }

  function prepare() {
    for (const criterion of criteria()) {
      for (const one of all(criterion, "[data-with-script]")) one.hidden = false;
      for (const one of all(criterion, "[data-without-script]")) one.hidden = true;
      if (typeOf(criterion)) own(criterion).disabled = false;
    }
    sync();
  }

  // Which criteria are asked, as the answers are now.
  function unfold() {
    for (const criterion of criteria()) if (criterion.dataset.if) criterion.hidden = !isMet(criterion);
  }

  function isMet(criterion, depth = 0) {
    if (!criterion.dataset.if) return true;
    const name = CSS.escape(criterion.dataset.if);
    const other = form.querySelector(`#rating-${name}`);
    const given = other?.querySelector(`input[type=radio][name=${name}]:checked, [data-answer]`)?.value ?? "";
    const wanted = criterion.dataset.ifValues.split("|");
    const said = [given, given.split(":")[0], ...given.split("|")];
    return said.some((one) => one && wanted.includes(one)) && depth < 50 && isMet(other, depth + 1);
  }

  const criterionOf = (node) => node.closest?.("[data-criterion]");

  form.addEventListener("rate:key", (event) => {
    const { criterion, key } = event.detail;
    const taken = typeOf(criterion)?.key(criterion, key);
    if (!taken) return;
    event.preventDefault();
    event.detail.typed = taken === "typed";
  });

  for (const kind of ["change", "input"])
    form.addEventListener(kind, (event) => {
      const criterion = criterionOf(event.target);
      const isControl = "control" in event.target.dataset;
      if (criterion && isControl && (kind === "change" || "slider" in event.target.dataset)) typeOf(criterion)?.change(criterion, event.target);
      else if (criterion && event.target.type === "number") number.sync(criterion);
      unfold();
    });

  // A selection stays while a button is pressed.
  form.addEventListener("pointerdown", (event) => event.target.closest("[data-mark]") && event.preventDefault());
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-mark]");
    if (button) addSpan(criterionOf(button), button.dataset.mark);
  });

  form.addEventListener("rate:cleared", (event) => typeOf(criterionOf(event.target))?.sync(criterionOf(event.target)));
  form.addEventListener("rate:item", prepare);
  form.addEventListener("rate:filled", sync);
  prepare();
})();
