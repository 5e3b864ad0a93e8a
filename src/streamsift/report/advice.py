"""The recommendation of a comparison as a card: the method, its numbers, why, what speaks against it, how to use it."""

from __future__ import annotations

import shlex
from typing import Any

from streamsift import catalog
from streamsift.comparison.kinds import is_baseline
from streamsift.comparison.methods import split_name
from streamsift.report.measures import measure
from streamsift.report.numbers import listed
from streamsift.report.page import Card, CardFact, Snippet
from streamsift.report.ranking import models

Entry = dict[str, Any]

TITLES = {
    "use": "Use {name}",
    "do not select": "Do not select: use {name}",
    "too few": "Too early to tell: use {name} meanwhile",
    "all selected": "Ask for fewer features",
    "nothing works": "Nothing here predicts the target",
    "nothing finished": "Nothing to recommend yet",
}
KINDS = {"over streams": "95 % interval, {n} streams", "over time": "95 % interval over time", "range": "{n} repeats"}
SAME = {
    "over streams": "the same in all {n} streams",
    "over time": "the same all the time",
    "range": "the same in all {n} repeats",
}
SIGNS = {"\t": "tab", " ": "space"}  # what the command line calls characters that are not seen
MOST_NAMED = 4  # methods named in the caveat
TOLD = {"alike": "No test distinguishes it from {}.", "too few": "The rows are too few to test it against {}."}


def card(comparison: dict[str, Any]) -> Card:
    """The card on top of the page; comparisons of earlier versions have only the sentence."""
    entries = comparison["entries"]
    chosen = next((entry for entry in entries if entry["name"] == comparison.get("recommended")), None)
    verdict = comparison.get("verdict", "use" if chosen else "nothing finished")
    metric = comparison.get("metric", "accuracy")
    name = "all features" if chosen is None else _called(chosen)
    title = TITLES.get(verdict, "{name}").format(name=name)
    if verdict == "all selected" and comparison["n_features"] == 1:
        title = "Nothing to select from"
    if "verdict" not in comparison:
        title = "What the comparison says"
    return Card(
        title,
        [] if chosen is None else _facts(chosen, metric),
        comparison.get("reason") or str(comparison["recommendation"]),
        " ".join(_caveats(comparison, chosen)),
        [] if chosen is None else snippets(comparison, chosen),
        tone="good" if verdict == "use" and comparison["complete"] else "careful",
    )


def _called(entry: Entry) -> str:
    method = "all features" if entry["method"] == "all" else entry["method"]
    return f"{method} with {entry['model']}" if entry["model"] else str(method)


def _facts(entry: Entry, metric: str) -> list[CardFact]:
    """Metric, stability and number of features, each with its interval where there is one."""
    found = []
    for key, what in ((metric, measure(metric).label), ("stability", "stability"), ("features", "features per row")):
        if entry.get(key) is not None:
            write = measure(key).write
            found.append(CardFact(write(entry[key]), what, _interval(entry.get("intervals", {}).get(key), write)))
    return found


def _interval(found: dict[str, Any] | None, write: Any) -> str:
    """An interval in words.

    >>> from streamsift.report.numbers import share
    >>> _interval({"low": 0.8, "high": 0.9, "kind": "over streams", "n": 3}, share)
    '80.0 % to 90.0 % (95 % interval, 3 streams)'
    >>> _interval({"low": 1.0, "high": 1.0, "kind": "over streams", "n": 3}, share)
    'the same in all 3 streams'
    """
    if found is None:
        return "no interval: too few rows or repeats"
    low, high = write(found["low"]), write(found["high"])
    if found["low"] == found["high"]:
        return SAME[found["kind"]].format(n=found["n"])
    return f"{low} to {high} ({KINDS[found['kind']].format(n=found['n'])})"


def _caveats(comparison: dict[str, Any], chosen: Entry | None) -> list[str]:
    """What speaks against taking the answer for more than it is."""
    words = [] if comparison["complete"] else ["This comparison is not complete: some runs are still missing."]
    if chosen is None:
        return words
    for verdict, told in TOLD.items():
        found = _with_verdict(comparison, chosen, verdict)
        if found:
            more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
            words.append(told.format(listed([*found[:MOST_NAMED], *more])))
    if chosen["model"]:
        words.append(f"The figures are those of {chosen['model']}; another learner may prefer another selection.")
    if comparison["repeats"] == 1:
        words.append("It ran once.")
    return words


def _with_verdict(comparison: dict[str, Any], chosen: Entry, verdict: str) -> list[str]:
    """The entries of which a test says so beside the chosen one."""
    tests = comparison.get("tests_by_protocol", {}).get(chosen["protocol"]) or comparison["tests"]
    alone = len(models(comparison["entries"])) <= 1
    names = {entry["name"]: entry["method"] if alone else entry["name"] for entry in comparison["entries"]}
    found = []
    for pair in () if tests is None else tests.get("pairs", ()):
        both = (pair["first"], pair["second"])
        if chosen["name"] in both and pair["verdict"] == verdict:
            other = both[both[0] == chosen["name"]]
            found.append(names.get(other, other))
    return found


def snippets(comparison: dict[str, Any], entry: Entry) -> list[Snippet]:
    """How to use an entry: as a command, where the data is a file, and in Python; only methods of the catalog."""
    if is_baseline(entry) or entry["method"].partition("(")[0] not in catalog.names():
        return []
    method, settings = split_name(entry["method"])
    count, data, target = comparison.get("n_features_to_select"), comparison["data"], comparison["target"]
    reading = {"target": target} | comparison.get("reading", {}) if target else comparison.get("reading", {})
    given = {"n_features_to_select": count} if count is not None and entry["protocol"] == "prequential" else {}
    numeric = comparison.get("task") == "regression" and entry["protocol"] == "prequential"
    task = {"task": "regression"} if numeric and hasattr(catalog.make(method), "task") else {}
    made = ", ".join([repr(method), *(f"{name}={value!r}" for name, value in (task | given | settings).items())])
    is_file = not data.startswith("generate:") and "." in data
    source = f"open_stream({', '.join([repr(data), *_arguments(reading)])})" if is_file else None
    code = Snippet("In Python", "\n".join(_python(made, entry, source, _judging(comparison))))
    if not is_file:
        return [code]
    words = ["streamsift", "select", data, *_options(reading), "--method", method]
    words += ["-k", str(count)] if given and "n_features_to_select" not in settings else []
    words += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return [Snippet("In the shell", f"{shlex.join(words)} --out run/", wraps=True), code]


def _arguments(given: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in given.items()]


def _options(reading: dict[str, Any]) -> list[str]:
    """How the data is read, as words of the command line.

    >>> _options({"target": "y", "ignore": ["id", "name"], "sep": "\\t", "unlabelled": "skip"})
    ['--target', 'y', '--ignore', 'id', '--ignore', 'name', '--sep', 'tab', '--skip-unlabelled']
    """
    words: list[str] = []
    for name, value in reading.items():
        if name == "unlabelled":
            words.append("--skip-unlabelled")
        else:
            several = value if isinstance(value, (list, tuple)) else [value]
            words += [word for one in several for word in (f"--{name}", SIGNS.get(one, str(one)))]
    return words


def _judging(comparison: dict[str, Any]) -> dict[str, Any]:
    """How the entries were judged, where it is not what `prequential` does by itself."""
    usual = {"batch_size": 100, "label_delay": 0, "scale": "standard"}
    return {name: comparison[name] for name, value in usual.items() if comparison.get(name, value) != value}


def _python(made: str, entry: Entry, source: str | None, judging: dict[str, Any]) -> list[str]:
    """Lines that do with an entry what the comparison did: judge it on the file, or learn from the caller's data."""
    selector = f"selector = catalog.make({made})"
    if entry["protocol"] != "prequential":
        return ["from streamsift import catalog", "", selector, "selector.fit(X, y)  # your table and its target"]
    if source is None:
        loop = ["for X, y in batches:  # your stream", "    selector.partial_fit(X, y)", "print(selector.selected_)"]
        return ["from streamsift import catalog", "", selector, *loop]
    head = ["from streamsift import catalog, prequential", "from streamsift.streams import open_stream", "", selector]
    given = ", ".join([source, "selector", repr(entry["model"]), *_arguments(judging)])
    return [*head, f"trace = prequential({given})", "print(selector.selected_)"]
