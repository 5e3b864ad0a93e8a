// Tables sort by a click on a heading, again the other way round; cells without a value stay at the end.
const sortKey = (cell) => {
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (text === "" || text === "–" || text === "nan") return null;
  const value = Number(text.replace("−", "-").replaceAll(",", "").replace(/\s?%$/, ""));
  return text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number.isNaN(value) ? text : value;
};

const compareKeys = (a, b) =>
  typeof a === "number" && typeof b === "number" ? (a < b ? -1 : a > b ? 1 : 0)
    : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b, undefined, {numeric: true});

const sortTable = (heading) => {
  const row = heading.parentElement, body = row.closest("table").tBodies[0];
  const column = [...row.children].indexOf(heading);
  const way = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of row.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
  const keyed = [...body.rows].map((line) => [sortKey(line.cells[column]), line]);
  keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : way * compareKeys(a, b)));
  body.append(...keyed.map(([, line]) => line));
};

const startSorting = () => {
  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sortTable(button.parentElement));
  }
};
