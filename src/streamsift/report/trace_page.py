"""The page of a trace, by the kind of its run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamsift.catalog import Kind
from streamsift.report.decisions import columns_page
from streamsift.report.page import Section
from streamsift.report.purchases import instances_page
from streamsift.report.run import rows_page
from streamsift.runs.trace import Trace

PAGES: dict[Kind, Callable[[Trace, Sequence[Section]], str]] = {
    "rows": rows_page,
    "columns": columns_page,
    "instances": instances_page,
}


def trace_page(trace: Trace, first: Sequence[Section] = ()) -> str:
    """Return the HTML report of a run of any kind.

    Parameters
    ----------
    trace : Trace
        As `Trace.read` gives it. It is all that is needed: a page drawn again is the page that the run wrote.
    first : sequence of Section
        What stands above the run, such as `changes_section`: what changed since an earlier one.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> from streamsift import Screener, prequential
    >>> from streamsift.streams import generate
    >>> stream = generate("sea", n_rows=500)
    >>> trace_page(prequential(stream, Screener(n_features_to_select=2), "naive_bayes"))[:15]
    '<!doctype html>'
    """
    return PAGES[trace.run.kind](trace, first)
