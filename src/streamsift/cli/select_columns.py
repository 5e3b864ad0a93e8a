"""`streamsift select` with a method for streams of columns: the columns of a file are offered one after another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder


def select_columns(
    data: str, selector: Any, about: dict[str, Any], folder: OutputFolder | None, *, quiet: bool
) -> tuple[dict[str, Any], bool]:
    """Offer all columns of a file; return what was found and whether it was interrupted."""
    import time

    from streamsift.cli.display import live
    from streamsift.core.interrupts import check
    from streamsift.report.record import DecisionRecord
    from streamsift.streams.column_sources import open_columns

    source = open_columns(data, about["target"], categorical=about["categorical"], ignore=about["ignore"])
    selector.begin(source.y)
    view, record = _ColumnView(selector, len(source.names)), DecisionRecord()
    start, interrupted = time.perf_counter(), False
    with live(view.render, quiet=quiet):
        try:
            if selector.stream_tags().whole_table:  # not a stream: it looks at all columns at once
                selector.run(source)
            else:
                for names, block in source:
                    check()
                    record.add(selector.offer_many(block, names))
        except KeyboardInterrupt:
            interrupted = True
    history = selector.history_.to_pylist()
    selected = [
        {"rank": rank + 1, "index": row["place"], "name": row["name"], "statistic": _plain(row["statistic"])}
        for rank, row in enumerate(history)
    ]
    found: dict[str, Any] = {"complete": not interrupted, "seconds": round(time.perf_counter() - start, 3)}
    found |= {"n_features": len(source.names), "n_offered": selector.n_offered_, "selected": selected}
    if folder is not None:
        _write(folder, selector, about | found, record.as_dict())
    return found, interrupted


def _plain(statistic: float) -> float | str:
    """A number for JSON, which has no infinity: a perfect fit is written as the text "inf"."""
    return statistic if math.isfinite(statistic) else str(statistic)


def _write(folder: OutputFolder, selector: Any, found: dict[str, Any], record: dict[str, Any]) -> None:
    """The history with the decisions on the way in its metadata, from which `streamsift report` starts again."""
    import json

    import pyarrow.parquet as pq

    from streamsift.report.decisions import columns_report

    about = {"found": found | {"parameters": selector.get_params()}, "decisions": record}
    text = json.dumps(about, default=str)
    pq.write_table(selector.history_.replace_schema_metadata({"streamsift-columns": text}), folder / "trace.parquet")
    folder.write("report.html", columns_report(json.loads(text)["found"], record))


def print_columns(found: dict[str, Any]) -> None:
    """The accepted columns in the order of their acceptance, and how many were offered."""
    from streamsift.cli.table import print_table

    rows = [[str(row["rank"]), row["name"], f"{float(row['statistic']):.6g}"] for row in found["selected"]]
    print_table(["accepted", "feature", "statistic"], rows, numeric=["accepted", "statistic"])
    click.echo(f"{len(rows)} of {found['n_offered']:,} columns accepted", err=True)


class _ColumnView:
    """A progress bar over the columns, and the columns accepted last."""

    def __init__(self, selector: Any, n_columns: int) -> None:
        self._selector, self._n_columns = selector, n_columns

    def render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        from streamsift.cli.table import printable

        offered, accepted = self._selector.n_offered_, self._selector.selected_
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self._n_columns, completed=offered, width=24)
        head.add_row(bar, Text(f"{offered:,} of {self._n_columns:,} columns"), Text(f"{len(accepted)} accepted"))
        return Group(head, Text("  ".join(printable(name) for name in accepted[-10:]), style="dim"))
