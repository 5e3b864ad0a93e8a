// The data behind each chart as a CSV file, made when it is asked for.
const csvCell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};

const csvText = (columns) => {
  const names = Object.keys(columns);
  const length = names.length ? columns[names[0]].length : 0;
  const lines = [names.map(csvCell).join(",")];
  for (let k = 0; k < length; k++) lines.push(names.map((name) => csvCell(columns[name][k])).join(","));
  return lines.join("\r\n") + "\r\n";
};

const download = (file, columns) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff" + csvText(columns)], {type: "text/csv;charset=utf-8"}));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
