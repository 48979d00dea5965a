// Each cell of a table gets its column's name, which site.css shows where the table's own headings have no room. Long names
// in a cell break after a sign, not within a word.
"use strict";
addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.docutils")) {
    const names = [...table.querySelectorAll("thead th")].map((head) => head.innerText.trim());
    for (const cell of table.querySelectorAll("tbody td")) cell.dataset.column = names[cell.cellIndex] ?? "";
    for (const code of table.querySelectorAll("td code .pre")) {
      const parts = code.textContent.split(/(?<=[_.:/-])(?=.)/);
      code.replaceChildren(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
    }
  }
});
