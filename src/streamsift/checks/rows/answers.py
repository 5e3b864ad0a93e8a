"""Checks of answers: scores, ranks, support, names and scikit-learn's pipeline tell one story."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from streamsift.checks.samples import (
    INFORMATIVE,
    NAMES,
    Make,
    expect,
    flags_sample,
    has_parameter,
    pandas_for_checks,
    same_scores,
    sample,
    selecting,
)


def check_informative_column_wins(make: Make) -> None:
    for n_classes in (2, 3):
        for seed in (0, 1, 2):
            scores = make().partial_fit(*flags_sample(n_classes=n_classes, seed=seed)).scores_
            found = int(np.argmax(scores))
            expect(found == INFORMATIVE, f"with {n_classes} classes, column {found}, which is noise, comes first")


def check_answers_agree(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(pandas_for_checks().DataFrame(X, columns=NAMES), y)
    if not has_parameter(selector, "n_features_to_select"):
        mask, chosen = selector.get_support(), selector.selection()
        expect(sorted(chosen.indices) == np.flatnonzero(mask).tolist(), "selection and get_support disagree")
        expect(chosen.names == tuple(NAMES[place] for place in chosen.indices), "the names of the selection are wrong")
        expect(sorted(selector.ranking_) == [1, 2, 3, 4, 5], "ranking_ is not a ranking from 1")
        return
    for wanted, number in ((1, 1), (2, 2), (99, 5), (0.4, 2), (0.01, 1), (1.0, 5)):
        selector.set_params(n_features_to_select=wanted)
        mask, chosen = selector.get_support(), selector.selection()
        expect(int(mask.sum()) == number, f"n_features_to_select={wanted} of 5 selects {int(mask.sum())}")
        expect(sorted(chosen.indices) == np.flatnonzero(mask).tolist(), "selection and get_support disagree")
        expect(chosen.names == tuple(NAMES[place] for place in chosen.indices), "the names of the selection are wrong")
        best_first = np.argsort(selector.ranking_)[:number]
        expect(np.array_equal(chosen.indices, best_first), "selection and ranking_ disagree")
        same_scores(np.asarray(chosen.scores), selector.scores_[best_first], "selection and scores_ disagree")
        falling = all(np.diff(np.asarray(chosen.scores)) <= 0)
        expect(falling, "the selection is not sorted from best to worst")
    expect(sorted(selector.ranking_) == [1, 2, 3, 4, 5], "ranking_ is not a ranking from 1")


def check_pipeline_selects_before_it_classifies(make: Make) -> None:
    X, y = flags_sample(300)
    pipeline = make_pipeline(selecting(make, 1), GaussianNB()).fit(X, y)
    decides_itself = not has_parameter(pipeline[0], "n_features_to_select")
    kept = X[:, pipeline[0].get_support() if decides_itself else [INFORMATIVE]]
    expect(
        np.array_equal(pipeline.predict(X), GaussianNB().fit(kept, y).predict(kept)), "a pipeline predicts otherwise"
    )
