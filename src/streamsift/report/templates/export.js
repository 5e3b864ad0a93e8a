// A drawn bokeh view as a file, SVG or PNG, on the colour of the page; and all of them as text, for `streamsift report`.
// Nothing here waits: a browser that prints a page does not wait for pictures to be decoded.
const bytesOfPicture = (model, kind, paper) => {
  const layer = Bokeh.index.get_by_id(model.id).export(kind);
  if (kind === "svg") {
    const text = layer.ctx.get_serialized_svg(true);
    return new TextEncoder().encode(text.replace(/(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${paper}"/>`));
  }
  const canvas = document.createElement("canvas");
  Object.assign(canvas, {width: layer.canvas.width, height: layer.canvas.height});
  const pen = canvas.getContext("2d");
  pen.fillStyle = paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(layer.canvas, 0, 0);
  return Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1]), (letter) => letter.charCodeAt(0));
};

const pictureOf = (model, kind, paper) =>
  new Blob([bytesOfPicture(model, kind, paper)], {type: kind === "svg" ? "image/svg+xml" : "image/png"});

const writeOut = (named, kind, paper) => {
  const found = {};
  for (const [name, model] of named) {
    const bytes = bytesOfPicture(model, kind, paper);
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    found[`${name}.${kind}`] = btoa(text);
  }
  const out = Object.assign(document.createElement("pre"), {id: "exported", textContent: JSON.stringify(found)});
  document.body.replaceChildren(out);
};
