// Each cell of a table gets its column's name, which site.css shows where the table's own headings have no room.
"use strict";
addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.docutils")) {
    const names = [...table.querySelectorAll("thead th")].map((head) => head.innerText.trim());
    for (const cell of table.querySelectorAll("tbody td")) cell.dataset.column = names[cell.cellIndex] ?? "";
  }
});
