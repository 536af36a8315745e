"use strict";

// Tables sort by a click on a column: up, down, and back to the order they came in.
const order = new Intl.Collator("en", { numeric: true });

function key(row, column) {
  const cell = row.cells[column], text = cell.textContent.trim();
  const number = Number(cell.dataset.value ?? NaN);
  return { text, number, rank: Number.isNaN(number) ? (/^[-–]?$/.test(text) ? 2 : 1) : 0 };
}

// Numbers come before words, words before what is missing, in both directions.
function compare(a, b, sign) {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.rank === 0) return a.number === b.number ? 0 : sign * (a.number < b.number ? -1 : 1);
  return sign * order.compare(a.text, b.text);
}

function sort(table, rows, head) {
  const next = { none: "ascending", ascending: "descending", descending: "none" }[head.ariaSort];
  for (const other of head.parentNode.cells) other.ariaSort = "none";
  head.ariaSort = next;
  const sign = next === "descending" ? -1 : 1;
  const keyed = rows.map((row) => [key(row, head.cellIndex), row]);
  if (next !== "none") keyed.sort(([a], [b]) => compare(a, b, sign));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 2) continue;
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, rows, head));
    head.append(button);
    head.ariaSort = "none";
  }
}

// A link to a folded part opens it.
function unfold() {
  const part = document.getElementById(location.hash.slice(1));
  if (part instanceof HTMLDetailsElement) part.open = true;
}
addEventListener("hashchange", unfold);
unfold();

// Paper cannot be clicked: everything is open while printing.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});
