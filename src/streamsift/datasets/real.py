"""The small real tables that scikit-learn brings along, in the form of the others."""

from __future__ import annotations

from typing import Any

from streamsift.datasets.dataset import Dataset


def load_breast_cancer() -> Dataset:
    """Tumours by thirty measurements of their cells: 569 rows, the target `diagnosis`.

    Returns
    -------
    Dataset
        scikit-learn's breast cancer set (Wisconsin, diagnostic).

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_breast_cancer()
    >>> data.n_rows, len(data.feature_names), data.y[0]
    (569, 30, 'malignant')
    """
    from sklearn.datasets import load_breast_cancer as load

    bunch = load()
    labels = bunch.target_names[bunch.target].astype(str)
    return _dataset("breast_cancer", bunch, list(bunch.feature_names), "diagnosis", labels)


def load_diabetes() -> Dataset:
    """Patients by ten values: 442 rows, and a number as target, `progression` of the disease after a year.

    Returns
    -------
    Dataset
        scikit-learn's diabetes set.

    Examples
    --------
    >>> from streamsift import Joint, datasets
    >>> data = datasets.load_diabetes()
    >>> Joint(task="regression", n_features_to_select=3).fit(data.X, data.y).selected_
    ['bmi', 's5', 'bp']
    """
    from sklearn.datasets import load_diabetes as load

    bunch = load(scaled=False)
    return _dataset("diabetes", bunch, list(bunch.feature_names), "progression", bunch.target)


def load_digits() -> Dataset:
    """Handwritten digits as 8 x 8 pixels: 1,797 rows, 64 features, ten classes, the target `digit`.

    Returns
    -------
    Dataset
        scikit-learn's digits set; the pixel in row 2 and column 5 is called `pixel_2_5`.

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_digits()
    >>> data.n_rows, data.feature_names[:2], len(set(data.y.tolist()))
    (1797, ('pixel_0_0', 'pixel_0_1'), 10)
    """
    from sklearn.datasets import load_digits as load

    bunch = load()
    return _dataset("digits", bunch, list(bunch.feature_names), "digit", bunch.target.astype(str))


def _dataset(name: str, bunch: Any, features: list[str], target: str, labels: Any) -> Dataset:
    import pyarrow as pa

    columns = {feature: bunch.data[:, place] for place, feature in enumerate(features)}
    about = f"scikit-learn's {name.replace('_', ' ')} set; sklearn.datasets.load_{name}().DESCR says where it is from."
    return Dataset(name, pa.table(columns | {target: labels}), target, about)
