// Tables sort by a click on a column: up, down, and back to the order they came in. Numbers sort as numbers, before words,
// before what is missing; "0.53 (0.37 to 0.69)", "1.2e-5" and "> 180" count by their first number.

const NUMBER = /^[<>~≈±\s]*([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)/i;

function keyOf(cell) {
  const text = cell ? cell.textContent.trim() : "";
  const found = text.match(NUMBER);
  if (found) return [0, parseFloat(found[1].replaceAll(",", "").replace("−", "-"))];
  return text === "" || text === "–" || text === "-" ? [2, 0] : [1, text.toLowerCase()];
}

function compare(a, b, sign) {
  if (a[0] !== b[0]) return a[0] - b[0]; // what is missing stays last in both directions
  return a[1] < b[1] ? -sign : a[1] > b[1] ? sign : 0;
}

function sortBy(table, rows, head) {
  const heads = [...table.tHead.rows[0].cells];
  const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
  heads.forEach((other) => other.setAttribute("aria-sort", "none"));
  head.setAttribute("aria-sort", next);
  const keyed = rows.map((row) => [keyOf(row.cells[heads.indexOf(head)]), row]);
  if (next !== "none") keyed.sort(([a], [b]) => compare(a, b, next === "ascending" ? 1 : -1));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

const measured = location.pathname.includes("/results/") ? document.querySelectorAll(".md-typeset table:not([class])") : [];
measured.forEach((table) => {
  const rows = table.tBodies.length ? [...table.tBodies[0].rows] : [];
  // A cell that is empty because it repeats the one above would lose its meaning in another order.
  const repeats = rows.some((row) => row.cells[0].textContent.trim() === "");
  if (!table.tHead || rows.length < 3 || repeats) return;
  [...table.tHead.rows[0].cells].forEach((head) => {
    if (head.textContent.trim() === "" && head.cellIndex > 0) return;
    head.setAttribute("aria-sort", "none");
    const button = document.createElement("button");
    button.type = "button";
    button.title = "sort by this column";
    button.append(...head.childNodes);
    if (button.textContent.trim() === "") button.append("\u00a0");
    head.append(button);
    button.addEventListener("click", () => sortBy(table, rows, head));
  });
});
