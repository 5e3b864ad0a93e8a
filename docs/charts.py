"""Charts on the site: what an example of docs/gallery shows is put on its page as it is, with what it prints.

    python docs/charts.py [NAME ...]

draws the small pictures of the gallery's first page (docs/images/gallery/NAME.png), or some of them, with Playwright
and Chromium. The site itself needs neither.
"""

from __future__ import annotations

import io
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import bokeh
import bokeh.plotting
from bokeh.embed import components, file_html
from bokeh.resources import INLINE

HERE = Path(__file__).resolve().parent
EXAMPLES = sorted((HERE / "gallery").glob("*.py"))
PICTURES = HERE / "images" / "gallery"
SCRIPT = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
WIDTH, HEIGHT = 400, 280  # of a small picture

SHOWN: list[Any] = []  # what `show` has been called with, since somebody looked


def catch_charts() -> None:
    """From now on `bokeh.plotting.show` keeps a chart instead of opening a browser."""
    bokeh.plotting.show = SHOWN.append


def run_example(path: Path) -> list[Any]:
    """Run an example; returns the charts it shows."""
    catch_charts()
    SHOWN.clear()
    runpy.run_path(str(path), run_name="__main__")
    return SHOWN.copy()


class Scraper:
    """Puts the charts of a block on the page; the first one brings the small picture along."""

    def __repr__(self) -> str:
        return "Scraper()"  # the same in every build, so that nothing is built again for it

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        del block, gallery_conf
        picture = PICTURES / f"{Path(block_vars['src_file']).stem}.png"
        parts = []
        for chart in SHOWN:
            script, place = components(chart)
            lines = f'<div class="chart">{place}</div>\n{script}'.splitlines()
            parts.append("\n".join([".. raw:: html", "", *(f"    {line}" for line in lines), ""]))
            if picture.is_file() and len(block_vars["image_path_iterator"]) == 0:
                shutil.copy(picture, block_vars["image_path_iterator"].next())
        SHOWN.clear()
        return "\n\n".join(parts)


def _get_sg_image_scraper() -> Scraper:
    """What sphinx-gallery asks a module for."""
    catch_charts()
    return Scraper()


def draw_pictures(names: list[str]) -> None:
    """Draw the first chart of each example, or of those named, as a small picture."""
    from PIL import Image, ImageChops
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 2 * WIDTH, "height": 2 * HEIGHT})
        for path in EXAMPLES:
            if names and path.stem not in names:
                continue
            page.set_content(file_html(run_example(path)[0], INLINE, path.stem))
            page.wait_for_timeout(700)
            drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture = drawn.crop(ImageChops.invert(drawn).getbbox())  # without the white around it
            picture.thumbnail((WIDTH, HEIGHT))
            picture.quantize(32).save(PICTURES / f"{path.stem}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    try:
        draw_pictures(sys.argv[1:])
    except ImportError:
        sys.exit("There is no Playwright or no Pillow: the pictures stay as they are.")
