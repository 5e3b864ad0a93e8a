"""Checks of `transform`: row selectors and column selectors keep the selected columns, whatever form X has."""

from __future__ import annotations

import numpy as np

from streamsift.checks.bad_data import with_value
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import NAMES, Make, expect, pandas_for_checks, refused, selecting


def check_transform_refuses_nan(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    with refused("transform of NaN in X"):
        method.transform(with_value(X, 3, 1, np.nan))


def check_transform_keeps_the_selected_columns(make: Make) -> None:
    from scipy.sparse import csr_matrix

    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(selecting(make, 2), X, y)
    mask = method.get_support()
    kept = method.transform(X)
    expect(np.array_equal(kept, X[:, mask]), "transform does not keep the selected columns in their order")
    expect(kept.flags.writeable and not np.shares_memory(kept, X), "transform does not return data of its own")
    expect(method.transform(X.astype(np.float32)).dtype == np.float32, "transform does not keep float32")
    sparse = method.transform(csr_matrix(X))
    expect(np.array_equal(sparse.toarray(), kept), "transform of sparse data differs from dense data")
    same = selecting(make, 2).fit_transform(X, y)
    expect(np.array_equal(same, kept), "fit_transform differs from fit and transform")


def check_transform_finds_columns_by_name(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    frame = pandas_for_checks().DataFrame(X, columns=NAMES)
    method = driver.learn(selecting(make, 2), frame, y)
    names = method.get_feature_names_out().tolist()
    expect(names == [NAMES[place] for place in method.get_support(indices=True)], "get_feature_names_out is wrong")
    turned = frame[[*NAMES[2:], *NAMES[:2]]]
    expect(np.array_equal(method.transform(turned), frame[names]), "transform does not match columns by name")


def check_set_output_gives_pandas(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    frame = pandas_for_checks().DataFrame(X, columns=NAMES, index=range(100, 100 + len(X)))
    method = selecting(make, 2).set_output(transform="pandas")
    kept = driver.learn(method, frame, y).transform(frame)
    wanted = [NAMES[place] for place in method.get_support(indices=True)]
    expect(kept.columns.tolist() == wanted, "the pandas output has other columns than the selected ones")
    expect(kept.equals(frame[kept.columns]), "the pandas output is not the selected columns with their index")
