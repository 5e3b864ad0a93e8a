"""Charts as SVG or PNG files, drawn by a browser that is installed: Chromium, Chrome or Edge. Nothing is fetched.

The browser opens a page from a file, its script puts the pictures into the page as text, and the browser prints the
page. A page can also be opened by hand: each chart has buttons that save it.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.resources import INLINE, Resources

from streamsift.core.atomic import path_to_write
from streamsift.core.exceptions import InputError, ParameterError

Kind = Literal["svg", "png"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
QUIET = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions",
)  # fmt: skip
WAIT = 240  # seconds at most


def find_browser() -> str:
    """The browser that draws; InputError where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise InputError(
            "Drawing SVG or PNG files takes Chromium, Chrome or Edge, and none is installed: install one, or open the "
            "report and use the SVG and PNG buttons below its charts."
        )
    return found


def export_page(page: str, kind: Kind) -> dict[str, bytes]:
    """The charts of a report as files: their names, and what is in them.

    Parameters
    ----------
    page : str
        HTML, as `trace_page` and `comparison_report` give it.
    kind : {"svg", "png"}
        What to draw.

    Returns
    -------
    dict
        Charts of the same title are numbered.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, "utf-8")
        command = [find_browser(), *QUIET, *_as_root(), f"--user-data-dir={folder}/browser", "--window-size=1200,900"]
        command += ["--virtual-time-budget=120000", "--dump-dom", f"{path.as_uri()}#export={kind}"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=WAIT, check=False)
        except subprocess.TimeoutExpired as error:
            raise InputError(f"The browser {command[0]!r} did not draw the charts within {WAIT} seconds.") from error
    found = re.search(r'<pre id="exported">([^<]*)</pre>', done.stdout.decode("utf-8", "replace"))
    if found is None:
        raise InputError(f"The browser {command[0]!r} drew no charts: open the report and use its SVG and PNG buttons.")
    return {name: base64.b64decode(text) for name, text in json.loads(found[1].replace("&amp;", "&")).items()}


def _as_root() -> list[str]:
    """Root has no sandbox."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def save_drawing(drawing: Any, path: str | os.PathLike[str]) -> None:
    """Write what `.plot()` returns to a file: .svg, .png, or .html, which takes no browser."""
    target = path_to_write(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind == "html":
        target.write_text(file_html(drawing, INLINE, title="streamsift"), "utf-8")
        return
    if kind not in ("svg", "png"):
        raise ParameterError(f"{str(path)!r} is neither .svg nor .png nor .html: name the file so.")
    (drawn,) = export_page(_drawing_page(drawing, kind), "svg" if kind == "svg" else "png").values()
    target.write_bytes(drawn)


PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>streamsift</title></head><body>
<div id="place"></div><script>{library}</script><script>{script}
const start = async () => {{
  const figures = {figures}, roots = {{"{root}": "place"}};
  await Bokeh.embed.embed_items({{figures}}, [{{docid: "figures", roots, root_ids: ["{root}"]}}]);
  writeOut([["picture", Bokeh.documents.at(-1).get_model_by_id("{root}")]], "{kind}", "#ffffff");
}};
start();
</script></body></html>
"""


def _drawing_page(drawing: Any, kind: str) -> str:
    """A page that draws, and then puts the picture into itself."""
    document = Document()
    document.add_root(drawing)
    try:
        figures = json.dumps(document.to_json(deferred=False)).replace("</", "<\\/")
    finally:
        document.remove_root(drawing)  # it may be shown elsewhere
    return PAGE.format(
        library="\n".join(Resources(mode="inline", components=["bokeh", "bokeh-widgets"]).js_raw),
        script=(files("streamsift.report") / "templates" / "export.js").read_text("utf-8"),
        figures=figures,
        root=drawing.id,
        kind=kind,
    )
