// Sorting and filtering the rows that are on the page. <th data-sort="number|text"> becomes a button; a cell's
// data-value counts instead of its text. Missing values stay last in either direction.
(() => {
  "use strict";

  function valueOf(row, column, kind) {
    const cell = row.cells[column];
    const text = (cell.dataset.value ?? cell.textContent).trim();
    if (kind !== "number") return text.toLowerCase();
    const number = parseFloat(text.replace(/\u2212/g, "-").replace(/,/g, ""));
    return Number.isNaN(number) ? null : number;
  }

  function sortBy(head, table) {
    const kind = head.dataset.sort;
    const next = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    const sign = next === "ascending" ? 1 : -1;
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
    const compare = (a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      if (kind === "number") return sign * (a.value - b.value);
      return sign * a.value.localeCompare(b.value, undefined, { numeric: true });
    };
    for (const body of table.tBodies) {
      const rows = Array.from(body.rows, (row) => ({ row, value: valueOf(row, head.cellIndex, kind) }));
      body.append(...rows.sort(compare).map((entry) => entry.row));
    }
  }

  function makeSortable(table) {
    for (const head of table.querySelectorAll("thead th[data-sort]:not([data-ready])")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.dataset.ready = "";
      button.addEventListener("click", () => sortBy(head, table));
    }
  }

  function makeFilter(frame) {
    const label = frame.querySelector("[data-table-filter][hidden]");
    if (!label) return;
    const none = frame.querySelector("[data-table-none]");
    label.hidden = false;
    label.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      let shown = 0;
      for (const row of frame.querySelectorAll("tbody tr")) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      none.hidden = shown > 0;
    });
  }

  function start(root) {
    for (const frame of root.querySelectorAll("[data-table]")) {
      makeSortable(frame.querySelector("table"));
      makeFilter(frame);
    }
  }

  start(document);
  document.addEventListener("htmx:load", (event) => start(event.target.parentElement ?? document));
})();
