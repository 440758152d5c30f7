"use strict";
// Tables that a click on a column's name sorts.
(() => {
  for (const table of document.querySelectorAll("main .scroll > table")) {
    if (table.tBodies[0].rows.length < 2 || table.closest(".part")) continue;
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
    }
  }
  /** The first number of a cell, behind marks such as arrows; null where there is none. */
  const number = text => {
    const found = text.match(/-?\d+(\.\d+)?(e[+-]?\d+)?/);
    return found ? +found[0] : null;
  };
  document.addEventListener("click", event => {
    const button = event.target.closest("button.sort");
    if (!button) return;
    const head = button.parentNode, body = head.closest("table").tBodies[0], numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    // Numbers begin with the largest, names with the first.
    const down = before ? before === "ascending" : numeric;
    const key = row => {
      const text = row.cells[head.cellIndex].textContent.trim();
      return numeric ? number(text) : text || null;
    };
    const rows = [...body.rows].map(row => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);  // empty cells are last
      return (numeric ? a - b : a.localeCompare(b, "en", {numeric: true})) * (down ? -1 : 1);
    });
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  });
})();
