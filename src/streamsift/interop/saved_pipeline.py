"""A StreamPipeline as JSON and named arrays, and back; whatever comes from a file is checked before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from streamsift import catalog, persist
from streamsift.core.categories import CategoryVocabulary
from streamsift.core.exceptions import ParameterError, SavedStateError, StreamsiftError, UnknownNameError
from streamsift.core.one_hot import NUMBER, OneHotColumns
from streamsift.core.state import (
    MOST_FEATURES,
    MOST_ROWS,
    Finite,
    Increasing,
    Shape,
    Within,
    state_from_arrays,
    state_to_arrays,
)
from streamsift.core.vocabulary import FeatureVocabulary, saved_labels, saved_names
from streamsift.interop.pipeline_rows import LearnerRows
from streamsift.interop.saved_steps import kind_of, knowledge, parameters_of, refit, remade
from streamsift.learners.foreign import innermost

Arrays = dict[str, NDArray[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class _State:
    """What a pipeline knows beside its steps; `widths` are the columns that each transformer sees."""

    n_rows_seen: Annotated[int, Within(1, MOST_ROWS)]
    n_features: Annotated[int, Within(1, MOST_FEATURES)]
    n_restarts: Annotated[int, Within(0, MOST_ROWS)]
    n_drifts: Annotated[int, Within(0, MOST_ROWS)]
    has_warned: bool
    class_counts: Annotated[Ints, Shape("n_classes"), Within(0, MOST_ROWS)]
    sums: Annotated[Floats, Shape("n_columns"), Finite()]
    counts: Annotated[Floats, Shape("n_columns"), Within(0, MOST_ROWS)]
    chosen: Annotated[Ints, Shape("n_chosen"), Within(0, "n_columns - 1"), Increasing(strictly=True)]
    widths: Annotated[Ints, Shape("n_transformers"), Within(1, MOST_FEATURES)]
    learner_selected: Annotated[Ints, Shape("n_selected"), Within(0, MOST_FEATURES), Increasing(strictly=True)]
    learner_classes: Annotated[int, Within(0, "n_classes + 1")]
    learner_restarts: Annotated[int, Within(-1, MOST_ROWS)]


def parameters(pipeline: Any) -> dict[str, Any]:
    """The parameters of a trained pipeline and of its steps, as JSON keeps them."""
    steps = [_outside(name, step, learns=False) for name, step in pipeline._transformers]
    selector_name, learner_name = pipeline._names
    if pipeline._selector is not None:
        steps.append(_selector(selector_name, pipeline._selector))
    given = getattr(innermost(pipeline._learner), "given", dict(pipeline.steps)[learner_name])
    steps.append(_outside(learner_name, given, learns=True))
    return {"steps": steps, "missing": pipeline.missing, "batch_size": int(pipeline.batch_size)}


def _outside(name: str, step: Any, *, learns: bool) -> dict[str, Any]:
    return {"name": name, "class": kind_of(name, step, learns=learns), "parameters": parameters_of(name, step)}


def _selector(name: str, selector: Any) -> dict[str, Any]:
    target = f"{type(selector).__module__}:{type(selector).__qualname__}"
    try:
        catalog.class_at(target)
    except UnknownNameError as error:
        raise SavedStateError(
            f"The step {name!r} (a {type(selector).__name__}) cannot be saved: it is no method of the catalog."
        ) from error
    arrays = selector.state_arrays()
    names = arrays.get("feature_names")
    return {
        "name": name,
        "class": target,
        "parameters": persist.plain_parameters(selector),
        "labels": [persist.plain_label(label) for label in arrays["labels"].tolist()],
        "feature_names": None if names is None else names.tolist(),
    }


def to_arrays(pipeline: Any) -> Arrays:
    """What a trained pipeline and its steps know."""
    known, learner = pipeline._known, innermost(pipeline._learner)
    parameters(pipeline)  # refuses what cannot be saved
    state = _State(
        pipeline.n_rows_seen_,
        known.features.n_features,
        pipeline._n_restarts,
        pipeline._n_drifts,
        pipeline._has_warned,
        np.array(known.class_counts, np.int64),
        known.rows.sums,
        known.rows.counts,
        known.chosen.astype(np.int64),
        np.array([step.n_features_in_ for _, step in pipeline._transformers], np.int64),
        learner._selected.astype(np.int64),
        learner._classes,
        learner.n_restarts,
    )
    arrays: Arrays = state_to_arrays(state, "pipeline.") | known.categories.to_arrays()
    arrays["labels"] = known.labels.as_array()
    if known.features.names is not None:
        arrays["feature_names"] = np.array(known.features.names)
    if known.rows.columns is not None:
        arrays |= known.rows.columns.to_arrays()
    for name, step in pipeline._transformers:
        arrays |= _under(name, knowledge(kind_of(name, step, learns=False), step))
    selector_name, learner_name = pipeline._names
    if pipeline._selector is not None:
        own = pipeline._selector.state_arrays()
        arrays |= _under(selector_name, {key: value for key, value in own.items() if key not in _IN_MANIFEST})
    if learner.model is not None:
        arrays |= _under(learner_name, knowledge(kind_of(learner_name, learner.model, learns=True), learner.model))
    return arrays


_IN_MANIFEST = {"labels", "feature_names"}


def _under(name: str, arrays: Arrays) -> Arrays:
    return {f"step.{name}.{key}": value for key, value in arrays.items()}


def remake(kind: type[Any], found: dict[str, Any]) -> Any:
    """An untrained pipeline from the parameters of a file."""
    steps = found.get("steps")
    whole = (
        isinstance(steps, list)
        and found.keys() == {"steps", "missing", "batch_size"}
        and all(isinstance(step, dict) and isinstance(step.get("parameters"), dict) for step in steps)
        and all(isinstance(step.get(key), str) for step in steps for key in ("name", "class"))
    )
    if not whole or not steps:
        raise SavedStateError("The saved pipeline is damaged: its steps are not complete.")
    made = []
    for step in steps:
        if "labels" in step:
            made.append((step["name"], persist.remade(catalog.class_at(step["class"]), step["parameters"])))
        else:
            made.append((step["name"], remade(step["class"], step["parameters"])))
    pipeline = kind(made, missing=found["missing"], batch_size=found["batch_size"])
    pipeline._saved_steps = {step["name"]: step for step in steps}
    return pipeline


def restore(pipeline: Any, arrays: Arrays) -> Any:
    """Give a pipeline the state of another one with the same steps."""
    saved = getattr(pipeline, "_saved_steps", None) or {step["name"]: step for step in parameters(pipeline)["steps"]}
    labels = saved_labels(arrays)
    state = state_from_arrays(_State, arrays, "pipeline.", {"n_classes": len(labels)})
    names = saved_names(arrays, state.n_features)
    categories = CategoryVocabulary.from_arrays(arrays, state.n_features)
    columns = OneHotColumns.from_arrays(arrays, len(state.sums))
    rows = LearnerRows(state.sums, state.counts, columns)
    places = rows.places(state.chosen)
    fresh = type(pipeline)(pipeline.steps, missing=pipeline.missing, batch_size=pipeline.batch_size)
    try:
        fresh._begin()
    except (ParameterError, ValueError) as error:
        raise SavedStateError(f"The saved pipeline is damaged: {error}") from error
    problem = _problem(state, len(fresh._transformers), categories, columns)
    if problem is not None:
        raise SavedStateError(f"The saved pipeline is damaged: {problem}.")
    for (name, step), width in zip(fresh._transformers, state.widths.tolist(), strict=True):
        refit(kind_of(name, step, learns=False), step, _own(arrays, name), width)
    if fresh._selector is not None:
        _restore_selector(fresh._names[0], fresh._selector, saved[fresh._names[0]], arrays)
        if len(fresh._selector.get_support()) != len(state.sums):
            raise SavedStateError("The saved pipeline is damaged: its selector knows other columns.")
    _restore_learner(fresh, saved, state, arrays, places)
    # Nothing has failed: from here on the object changes.
    fresh._resume(state, FeatureVocabulary(names, state.n_features), labels, categories, rows, places)
    vars(pipeline).pop("_saved_steps", None)
    vars(pipeline).update({key: value for key, value in vars(fresh).items() if key != "_inside"})
    return pipeline


def _problem(
    state: _State, n_transformers: int, categories: CategoryVocabulary, columns: OneHotColumns | None
) -> str | None:
    """What does not fit together, in a few words; transformers that can be saved keep the number of columns."""
    n_numbers = state.n_features - len(categories.names)
    if len(state.sums) != state.n_features or state.widths.tolist() != [n_numbers] * n_transformers:
        return "its transformers see other columns than there are"
    if columns is None:
        return "its categories have no columns" if categories.names else None
    for slot, code in zip(columns.features.tolist(), columns.codes.tolist(), strict=True):
        names = categories.names.get(slot)
        if (code == NUMBER) != (names is None) or (names is not None and code >= len(names)):
            return f"a column for category {code} of feature {slot} stands for nothing"
    return None


def _own(arrays: Arrays, name: str) -> Arrays:
    start = f"step.{name}."
    return {key.removeprefix(start): value for key, value in arrays.items() if key.startswith(start)}


def _restore_selector(name: str, selector: Any, saved: dict[str, Any], arrays: Arrays) -> None:
    own = _own(arrays, name)
    labels, names = saved.get("labels"), saved.get("feature_names")
    if not isinstance(labels, list) or not (names is None or persist.all_of(names, (str,))):
        raise SavedStateError(f"The saved pipeline is damaged: step {name!r} has no list of labels, or of names.")
    own["labels"] = np.empty(len(labels), object)
    own["labels"][:] = labels
    if names is not None:
        own["feature_names"] = np.array(names)
    try:
        selector.load_state_arrays(own)
    except StreamsiftError:
        raise
    except (ValueError, TypeError) as error:
        raise SavedStateError(f"The saved pipeline is damaged: its step {name!r} cannot be read ({error}).") from error


def _restore_learner(fresh: Any, saved: dict[str, Any], state: _State, arrays: Arrays, places: NDArray[Any]) -> None:
    """A learner that has learnt nothing yet has no model; any other was trained on the columns selected last."""
    if state.learner_classes == 0 and not len(places):
        return
    selected = state.learner_selected.astype(np.intp)
    if state.learner_classes < 2 or not len(selected) or (len(places) and not np.array_equal(places, selected)):
        raise SavedStateError("The saved pipeline is damaged: its learner knows other columns than those selected.")
    name = fresh._names[1]
    model = remade(saved[name]["class"], saved[name]["parameters"])
    refit(saved[name]["class"], model, _own(arrays, name), len(selected), state.learner_classes)
    innermost(fresh._learner).resume(model, selected, state.learner_classes, state.learner_restarts)
