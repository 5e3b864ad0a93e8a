// The data behind each chart as a CSV file, made when it is asked for.
// A cell that a spreadsheet would take for a formula gets an apostrophe in front, unless it is a number.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^-?Infinity$/i;

const csvCell = (value) => {
  let text = value === null || value === undefined ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(text) && !NUMBER.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};

const csvText = (columns) => {
  const names = Object.keys(columns);
  const length = names.length ? columns[names[0]].length : 0;
  const lines = [names.map(csvCell).join(",")];
  for (let k = 0; k < length; k++) lines.push(names.map((name) => csvCell(columns[name][k])).join(","));
  return lines.join("\r\n") + "\r\n";
};

const download = (file, columns) => save(file, new Blob(["\ufeff" + csvText(columns)], {type: "text/csv;charset=utf-8"}));

const save = (file, blob) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
