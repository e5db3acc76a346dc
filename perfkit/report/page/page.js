"use strict";
/* Sorting and filtering; the page is whole without it. */
for (const table of document.querySelectorAll("table.data")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const missing = (value) => value === "-" || value === "";
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((one) => one.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = rows.map((row) => [key(row, column), row]);
      keyed.sort(([a], [b]) =>
        missing(a) || missing(b) ? missing(a) - missing(b) : up ? compare(a, b) : compare(b, a));
      body.append(...keyed.map(([, row]) => row));
    });
  });
  if (rows.length < 2) continue;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  label.className = "filter";
  label.append("Filter ", input, " ", count);
  input.type = "search";
  count.setAttribute("role", "status");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", filter);
  filter();
  table.closest(".wide").before(label);
}
const opened = [];
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    one.open = true;
    opened.push(one);
  }
});
addEventListener("afterprint", () => {
  for (const one of opened.splice(0)) one.open = false;
});
