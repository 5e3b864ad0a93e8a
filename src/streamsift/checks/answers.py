"""Checks of answers: scores, ranks, support, names, transform and scikit-learn's pipeline tell one story."""

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
    in_batches,
    pandas_for_checks,
    same_scores,
    same_state,
    sample,
    selecting,
)


def check_informative_column_wins(make: Make) -> None:
    for n_classes in (2, 3):
        for seed in (0, 1, 2):
            scores = make().partial_fit(*flags_sample(n_classes=n_classes, seed=seed)).scores_
            found = int(np.argmax(scores))
            expect(found == INFORMATIVE, f"with {n_classes} classes, column {found}, which is noise, comes first")


def check_fit_forgets_and_learns_one_batch(make: Make) -> None:
    X, y = sample()
    wanted = make().partial_fit(X, y).state_arrays()
    same_state(make().fit(X, y).state_arrays(), wanted, "fit differs from partial_fit on a new selector")
    other = make().partial_fit(*sample(n_features=4, n_classes=2, seed=9))
    same_state(other.fit(X, y).state_arrays(), wanted, "fit remembers what came before it")


def check_rows_are_counted(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(X, y).partial_fit(X[:13], y[:13])
    expect(selector.n_rows_seen_ == len(X) + 13, f"n_rows_seen_ is {selector.n_rows_seen_} after {len(X) + 13} rows")
    expect(selector.fit(X, y).n_rows_seen_ == len(X), "fit does not start counting rows anew")


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


def check_transform_keeps_the_selected_columns(make: Make) -> None:
    from scipy.sparse import csr_matrix

    X, y = sample()
    selector = selecting(make, 2).partial_fit(X, y)
    mask = selector.get_support()
    kept = selector.transform(X)
    expect(np.array_equal(kept, X[:, mask]), "transform does not keep the selected columns in their order")
    expect(kept.flags.writeable and not np.shares_memory(kept, X), "transform does not return data of its own")
    expect(selector.transform(X.astype(np.float32)).dtype == np.float32, "transform does not keep float32")
    sparse = selector.transform(csr_matrix(X))
    expect(np.array_equal(sparse.toarray(), kept), "transform of sparse data differs from dense data")
    same = selecting(make, 2).fit_transform(X, y)
    expect(np.array_equal(same, kept), "fit_transform differs from fit and transform")


def check_set_output_gives_pandas(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=NAMES, index=range(100, 100 + len(X)))
    selector = selecting(make, 2).set_output(transform="pandas")
    kept = selector.partial_fit(frame, y).transform(frame)
    expect(kept.columns.tolist() == selector.get_feature_names_out().tolist(), "the pandas output has other columns")
    expect(kept.equals(frame[kept.columns]), "the pandas output is not the selected columns with their index")


def check_pipeline_selects_before_it_classifies(make: Make) -> None:
    X, y = flags_sample(300)
    pipeline = make_pipeline(selecting(make, 1), GaussianNB()).fit(X, y)
    decides_itself = not has_parameter(pipeline[0], "n_features_to_select")
    kept = X[:, pipeline[0].get_support() if decides_itself else [INFORMATIVE]]
    expect(
        np.array_equal(pipeline.predict(X), GaussianNB().fit(kept, y).predict(kept)), "a pipeline predicts otherwise"
    )


def check_scores_do_not_depend_on_asking(make: Make) -> None:
    X, y = sample()
    asked = make()
    for start in range(0, len(X), 40):
        asked.partial_fit(X[start : start + 40], y[start : start + 40])
        asked.scores_
    quiet = in_batches(make(), X, y, 40)
    same_scores(asked.scores_, quiet.scores_, "asking for scores on the way changes the result")
