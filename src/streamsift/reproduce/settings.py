"""The tables of the papers that print no results: sizes of data sets and streams, and settings of the methods.

Ours are read from the files of a folder, from the generators, and from the defaults of the classes, so that a change
of any of them shows here.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.core.exceptions import InputError
from streamsift.evaluate.folds import SCHEMES, fold_selections
from streamsift.learners.online import make_learner
from streamsift.metrics.selection import selection_accuracy
from streamsift.reproduce.abfs import runs as abfs_runs
from streamsift.reproduce.abfs.runs import AbfsRun, make_stream
from streamsift.reproduce.archives import matrix_shape, read_arrays
from streamsift.reproduce.etana import data as etana_data
from streamsift.reproduce.fires import data as fires_data
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Exhibit, Options, Pair, Progress, Result
from streamsift.reproduce.screening import data as screening_data
from streamsift.rows.abfs import ABFS
from streamsift.rows.fires import ANN, FIRES, SDT
from streamsift.rows.stump import TIE
from streamsift.streams.generators.linear_drift import LinearDrift

Cells = list[tuple[str, float | str, float | str]]  # cell, ours, published


def _result(
    title: str, table: str, cells: Cells, missing: list[str], note: str = "", parts: Collection[str] = ()
) -> Result:
    """`parts` are the cells of sets that are here in part only."""
    return Result(
        title=title,
        lead="Printed beside what is here.",
        note=note,
        columns=["cell", "ours", "published"],
        rows=[[cell, _shown(ours), _shown(paper)] for cell, ours, paper in cells],
        x_label="",
        dashed_means="",
        panels=[],
        pairs=[Pair(table, cell, ours, paper, "part" if cell in parts else "whole") for cell, ours, paper in cells],
        missing=missing,
    )


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.10g}"


# -- sizes of data sets -----------------------------------------------------------------------------------------------

FILES = {  # paper -> its name of a set -> file
    "abfs": abfs_runs.REAL_DATA,
    "etana": {data.name: data.file for data in etana_data.DATA_SETS},
    "fires": {data.name: data.file for data in fires_data.DATA_SETS},
    "screening": {
        "Gisette": "gisette_valid.npz",
        "Dexter": "dexter.npz",
        "Madelon": "madelon.npz",
        "SMK_CAN_187": "smk_can_187.npz",
        "GLI_85": "gli_85.npz",
        "Dorothea": "dorothea.npz",
        "Url": "url_day0.npz",
        "Kdd12": "kdd12.npz",
    },
}
IN_PART = {  # sets that are not the paper's whole ones
    "abfs": (),
    "etana": tuple(data.name for data in etana_data.DATA_SETS if not data.whole),
    "fires": tuple(data.name for data in fires_data.DATA_SETS if data.file and not data.whole),
    "screening": ("Gisette", "Url"),
}
TABLE_OF_SIZES = {"abfs": "table2", "etana": "table1", "fires": "table2", "screening": "table1"}
ROWS_ARE = {"abfs": "instances", "etana": "instances", "fires": "samples", "screening": "observations"}
COUNTED_WITHOUT_TEST = ("Madelon", "Dexter")  # the ETANA paper counts the rows of these to train on


def sizes(paper: str, options: Options, progress: Progress) -> Result:
    """Rows, features and classes of each data set of a paper."""
    if options.data is None:
        raise InputError("The paper's data sets are not part of the package: give a folder of them with --data.")
    table = TABLE_OF_SIZES[paper]
    printed = published_table(paper, table)
    cells: Cells = []
    missing, parts = [], []
    for done, (name, row) in enumerate(printed.items(), start=1):
        size = _size_used(paper, name, Path(options.data))
        if size is not None:
            ours = dict(zip((ROWS_ARE[paper], "features", "classes"), size, strict=True))
            cells += [(f"{name}, {what}", float(ours[what]), float(row[what])) for what in ours if what in row]
            parts += [f"{name}, {what}" for what in ours if name in IN_PART[paper]]
        else:
            missing.append(name)
        progress(done, len(printed))
    return _result(f"{table.replace('table', 'Table ')}: sizes of the data sets", table, cells, missing, parts=parts)


def _size_used(paper: str, name: str, folder: Path) -> tuple[int, int, int] | None:
    """Rows, features and classes of a set as its reproduction uses it; None where it is not here."""
    if paper == "fires":
        data = next(one for one in fires_data.DATA_SETS if one.name == name)
        if data.generator:
            X, _ = fires_data.load(folder, data, 2, seed=1)
            return data.rows or 0, X.shape[1], 2
    path = folder / FILES[paper].get(name, "-")
    if not path.is_file():
        return None
    n_rows, n_features, n_classes = _size(path)
    if paper == "fires":
        n_rows = min(n_rows, data.rows or n_rows)
    if paper == "etana" and name in COUNTED_WITHOUT_TEST:
        n_rows = next(one.n_train or n_rows for one in etana_data.DATA_SETS if one.name == name)
    return n_rows, n_features, n_classes


def _size(path: Path) -> tuple[int, int, int]:
    return *matrix_shape(path), len(np.unique(read_arrays(path, ("y",))["y"]))


# -- settings ---------------------------------------------------------------------------------------------------------


def abfs_streams(options: Options, progress: Progress) -> Result:
    """Table 1 of the ABFS paper: rows, true features and features added."""
    cells: Cells = []
    printed = published_table("abfs", "table1")
    for done, (name, row) in enumerate(printed.items(), start=1):
        stream = make_stream(AbfsRun(name, 100, "", ""))
        cells.append((f"{name}, instances", float(stream.n_rows), float(row["instances"])))
        relevant = float(np.mean([len(segment.relevant) for segment in stream.segments()]))
        cells.append((f"{name}, mean relevant features", relevant, float(row["mean relevant features"])))
        if row["redundant features"] is not None:
            for irrelevant, redundant in zip(
                row["irrelevant features appended"], row["redundant features"], strict=True
            ):
                ours = float(abfs_runs.REDUNDANT[irrelevant])
                cells.append((f"{name}, redundant features with {irrelevant} irrelevant", ours, float(redundant)))
        progress(done, len(printed))
    note = "True features are the mean over the segments of the stream; during a gradual drift those of both concepts."
    return _result("Table 1: make-up of the streams", "table1", cells, [], note)


def abfs_parameters(options: Options, progress: Progress) -> Result:
    """The chosen parameters of ABFS are those of `ABFS.paper()`."""
    default = ABFS.paper()
    ours: dict[str, float | str] = {
        "grace period gp": default.grace_period,
        "selection threshold theta": default.threshold,
        "drift detector psi": str(default.detector).upper(),
        "tie breaking tau": TIE,
        "SA weight gamma": signature(selection_accuracy).parameters["gamma"].default,
    }
    printed = published_table("abfs", "parameter-grid")
    cells: Cells = [(f"{name}, default", ours[name], printed[name]["chosen synthetic"]) for name in printed]
    progress(1, 1)
    return _result("Parameters of ABFS: the chosen ones and ours for the paper", "parameter-grid", cells, [])


def abfs_folds(options: Options, progress: Progress) -> Result:
    """How rows go to folds: schemes by name, and the number of folds."""
    printed = published_table("abfs", "stability-setup")
    named = {"cross": "cross-validation", "split": "split-validation", "bootstrap": "bootstrap"}
    cells: Cells = [
        (f"scheme {k + 1}", named[ours], name) for k, (ours, name) in enumerate(zip(SCHEMES, printed, strict=True))
    ]
    cells.append(("folds", float(signature(fold_selections).parameters["n_folds"].default), 10.0))
    progress(1, 1)
    return _result("How stability is measured", "stability-setup", cells, [], "The number of folds is in the text.")


def fires_parameters(options: Options, progress: Progress) -> Result:
    """The chosen parameters of FIRES are those of `FIRES.paper()`."""
    default = FIRES.paper()
    ann, sdt = ANN(), SDT()
    ours: dict[str, Any] = {
        "initial mu": default.initial_mu,
        "initial sigma": default.initial_sigma,
        "lambda_s": default.uncertainty_penalty,
        "lambda_r": default.regulariser,
        "learning rate": default.learning_rate_mu,
        "Monte Carlo samples": default.n_samples,
        "hidden layers": ann.hidden_layers,
        "hidden layer size": ann.layer_size,
        "tree depth": sdt.depth,
        "penalty coefficient": sdt.penalty,
    }
    printed = published_table("fires", "hyperparameters")
    cells: Cells = [(name, float(ours[name]), float(row["final"])) for name, row in printed.items()]
    progress(1, 1)
    return _result("Parameters of FIRES: the chosen ones and ours for the paper", "hyperparameters", cells, [])


def fires_benchmarks(options: Options, progress: Progress) -> Result:
    """Settings of the two learners FIRES is compared with."""
    printed = published_table("fires", "boosting-and-tree-settings")
    boosting: Any = make_learner("boosting")
    tree: Any = make_learner("hoeffding_tree_majority")
    cells: Cells = [
        (
            "OnlineBoosting, base_estimator",
            {"ArrayBayes": "NaiveBayes"}.get(type(boosting._model.model).__name__, "another"),
            printed["OnlineBoosting"]["base_estimator"],
        ),
        (
            "OnlineBoosting, n_estimators",
            float(boosting._model.n_models),
            float(printed["OnlineBoosting"]["n_estimators"]),
        ),
        (
            "HoeffdingTree, leaf_prediction",
            "nba" if tree.model.by_bayes else "mc",
            printed["HoeffdingTree"]["leaf_prediction"],
        ),
    ]
    progress(1, 1)
    return _result("Settings of the benchmark learners", "boosting-and-tree-settings", cells, [])


def screening_stream(options: Options, progress: Progress) -> Result:
    """The drifting stream of section 3.2 is our generator's default."""
    default = LinearDrift()
    printed = published_table("screening", "synthetic-setup")
    ours = {
        "features p": default.n_features,
        "true features k": default.n_relevant,
        "signal b": default.strength,
        "nu": default.common,
    }
    cells: Cells = [(name, float(value), float(printed[name]["value"])) for name, value in ours.items()]
    progress(1, 1)
    return _result("The drifting stream of section 3.2", "synthetic-setup", cells, [])


def screening_sizes(options: Options, progress: Progress) -> Result:
    """Table 7 of the screening paper, which is not in its text: sizes of our stand-ins only."""
    folder = screening_data.folder_of(options)
    rows = []
    for name in ("basehock_full.npz", "pcmac_full.npz", "url_day0.npz"):
        if (folder / name).is_file():
            rows.append([name, *(f"{number:,}" for number in _size(folder / name)), ""])
    progress(1, 1)
    return Result(
        "Table 7: sizes of the large sets",
        "Our stand-ins for 20 Newsgroups and URL.",
        "The paper's numbers are not in the text they were read from.",
        ["file", "rows", "features", "classes", "published"],
        rows,
        "",
        "",
        [],
    )


EXHIBITS: dict[str, dict[str, Exhibit]] = {
    "abfs": {
        "table 1": abfs_streams,
        "table 2": partial(sizes, "abfs"),
        "parameters": abfs_parameters,
        "folds": abfs_folds,
    },
    "etana": {"table 1": partial(sizes, "etana")},
    "fires": {"table 2": partial(sizes, "fires"), "parameters": fires_parameters, "benchmarks": fires_benchmarks},
    "investing": {},
    "screening": {"table 1": partial(sizes, "screening"), "table 7": screening_sizes, "stream": screening_stream},
}
