"""make_columns: what is made equals what scikit-learn's transformers make, and is never there all at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer

from streamsift import Investing, make_columns, open_columns
from streamsift.core.exceptions import InputError, ParameterError, UnknownNameError
from streamsift.interop import sklearn as factories
from streamsift.interop.sklearn import RECIPES, read_recipes

RNG = np.random.default_rng(0)
N = 90
NUMBERS = pd.DataFrame(RNG.normal(size=(N, 5)), columns=["age", "income", "price", "d", "e"])
CATEGORIES = pd.DataFrame({"colour": RNG.choice(["red", "green", "blue"], N), "size": RNG.choice(list("SML"), N)})
CATEGORIES["code"] = RNG.choice(["1", "7"], N)
TABLE = pd.concat([NUMBERS.iloc[:, :2], CATEGORIES, NUMBERS.iloc[:, 2:]], axis=1)
Y = NUMBERS["age"] * NUMBERS["income"] + RNG.normal(size=N) / 4


def made(recipes, table=TABLE, **options):
    """All columns as one frame, which only a test may do."""
    blocks = list(make_columns(table, recipes, given=False, **options))
    return pd.DataFrame(
        np.hstack([block for _, block in blocks]), columns=[name for names, _ in blocks for name in names]
    )


def polynomial(degree, *, interaction_only=False):
    transformer = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False).fit(NUMBERS)
    names = [name.replace(" ", "*") for name in transformer.get_feature_names_out()]
    return pd.DataFrame(transformer.transform(NUMBERS), columns=names)


@pytest.fixture(params=[1, 3, 512], ids="width {}".format)
def _width(request, monkeypatch):
    monkeypatch.setattr(factories, "WIDEST", request.param)


@pytest.mark.usefixtures("_width")
@pytest.mark.parametrize("degree", [2, 3, 4])
def test_polynomials_are_those_of_polynomial_features(degree):
    pd.testing.assert_frame_equal(made(f"polynomial:{degree}"), polynomial(degree).iloc[:, 5:], rtol=1e-12)


@pytest.mark.usefixtures("_width")
def test_products_and_powers_are_those_of_polynomial_features():
    only = polynomial(3, interaction_only=True)
    pd.testing.assert_frame_equal(made("pairs,triples"), only.iloc[:, 5:], rtol=1e-12)
    powers = made("squares,cubes")
    assert list(powers) == [f"{name}^{power}" for power in (2, 3) for name in NUMBERS]
    pd.testing.assert_frame_equal(powers, polynomial(3)[list(powers)], rtol=1e-12)


@pytest.mark.usefixtures("_width")
def test_splines_are_those_of_spline_transformer():
    transformer = SplineTransformer(n_knots=4, degree=3, include_bias=False).fit(NUMBERS)
    found = made("splines:4")
    np.testing.assert_array_equal(found, transformer.transform(NUMBERS))
    assert list(found)[:6] == [*(f"spline{k}(age)" for k in range(1, 6)), "spline1(income)"]


@pytest.mark.usefixtures("_width")
def test_lags_are_shifted_values():
    found = made("lags:3")
    assert list(found)[:4] == ["lag1(age)", "lag2(age)", "lag3(age)", "lag1(income)"]
    for name in NUMBERS:
        for lag in (1, 2, 3):
            wanted = NUMBERS[name].shift(lag).fillna(NUMBERS[name][0])
            np.testing.assert_array_equal(found[f"lag{lag}({name})"], wanted)


def test_logarithms_are_shifted_where_they_must_be():
    table = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [-1.0, 0.0, 3.0], "same": [5.0, 5.0, 5.0]})
    found = made("logs", table)
    assert list(found) == ["log(a)", "log(b)"]
    np.testing.assert_allclose(found, np.log([[1, 1], [2, 2], [4, 5]]))


@pytest.mark.usefixtures("_width")
def test_one_hot_columns_are_those_of_one_hot_encoder():
    encoder = OneHotEncoder(sparse_output=False).fit(CATEGORIES)
    names = [
        f"{name}={value}" for name, values in zip(CATEGORIES, encoder.categories_, strict=True) for value in values
    ]
    wanted = pd.DataFrame(encoder.transform(CATEGORIES), columns=names)
    found = made("onehot")
    pd.testing.assert_frame_equal(found[names], wanted)
    assert found.shape == wanted.shape


@pytest.mark.usefixtures("_width")
def test_crosses_are_those_of_feature_hasher():
    hasher = FeatureHasher(4, input_type="string", alternate_sign=False)
    found = made("crosses:4")
    assert found.shape == (N, 12)
    for a, b in (("colour", "size"), ("colour", "code"), ("size", "code")):
        texts = [[f"{a}={one}*{b}={other}"] for one, other in zip(CATEGORIES[a], CATEGORIES[b], strict=True)]
        wanted = hasher.transform(texts).toarray()
        np.testing.assert_array_equal(found[[f"{a}*{b}#{k}" for k in range(4)]], wanted)


@pytest.mark.parametrize(
    "recipes", [",".join([*RECIPES][:4] + [*RECIPES][5:]), "polynomial:3,lags:4", ["logs", "splines"]]
)
@pytest.mark.parametrize("given", [True, False])
def test_the_columns_are_counted_before_they_are_made(recipes, given):
    source = make_columns(TABLE, recipes, given=given)
    assert source.n_columns == sum(len(names) for names, _ in source) == sum(len(names) for names, _ in source)


def test_the_given_columns_come_first_and_the_decisions_are_those_of_the_whole_table():
    source = make_columns(NUMBERS, "pairs,lags:2", Y)
    whole = pd.concat([NUMBERS, made("pairs,lags:2", NUMBERS)], axis=1)
    direct, ours = Investing().fit(whole, Y), Investing().run(source)
    assert ours.selected_ == direct.selected_ == ["age*income"]
    assert ours.n_offered_ == whole.shape[1] == source.n_columns
    assert next(iter(source))[0] == tuple(NUMBERS)


def test_blocks_can_begin_anywhere_and_nothing_before_is_made(monkeypatch):
    monkeypatch.setattr(factories, "WIDEST", 4)
    source = make_columns(NUMBERS, "pairs,squares", Y)
    names = [list(names) for names, _ in source]
    for first in range(len(names) + 1):
        assert [list(found) for found, _ in source.blocks(first)] == names[first:]
    calls = []
    monkeypatch.setattr(factories, "_multiplied", lambda which, table: calls.append(len(which)))
    list(make_columns(NUMBERS, "pairs,squares", Y).blocks(3))
    assert calls == [2, 4, 1]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_with_its_target(tmp_path, suffix):
    path, data = tmp_path / f"t{suffix}", TABLE.assign(y=Y)
    data.to_csv(path, index=False) if suffix == ".csv" else pq.write_table(pa.Table.from_pandas(data), path)
    source = make_columns(open_columns(path, "y", categorical=["code"]), "pairs,onehot")
    selector = Investing().run(source)
    assert selector.selected_ == ["age*income"]
    assert source.target_name == "y"
    assert "colour=red" in [name for names, _ in source for name in names]
    assert selector.n_offered_ == 8 + 10 + 8


def test_selected_columns_are_made_again_for_other_rows():
    source = make_columns(TABLE, "pairs,logs,splines:4,lags:2,onehot,crosses:4", Y)
    new = pd.concat([TABLE.iloc[::-1].reset_index(drop=True)] * 2, ignore_index=True)
    names = ["spline2(age)", "colour=red", "age*income", "log(d)", "price", "colour*size#2"]
    all_of_them = made("pairs,logs,splines:4,onehot,crosses:4").assign(price=TABLE["price"])
    np.testing.assert_array_equal(source.columns(names), all_of_them[names])
    np.testing.assert_array_equal(source.columns(names, new), all_of_them[names].iloc[::-1].values.tolist() * 2)
    lagged = source.columns(["lag2(e)"], new)[:, 0]
    np.testing.assert_array_equal(lagged, new["e"].shift(2).fillna(new["e"][0]))


def test_other_rows_may_hold_categories_and_values_that_were_not_known():
    source = make_columns(TABLE, "onehot,crosses:4,logs")
    new = TABLE.iloc[:3].assign(colour=["violet", "red", "green"], age=-100.0)
    found = source.columns(["colour=red", *(f"colour*size#{k}" for k in range(4)), "log(age)"], new)
    assert found[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert found[:, 1:5].sum(axis=1).tolist() == [0.0, 1.0, 1.0]
    assert np.isfinite(found).all()
    with pytest.raises(InputError, match="There is no column 'age' of numbers here"):
        source.columns(["colour=red"], new.drop(columns="age"))


@pytest.mark.parametrize(("name", "words"), [("a*z", "No column called 'a\\*z' is made"), ("size", "holds categories")])
def test_columns_that_cannot_be_made_again_are_refused(name, words):
    with pytest.raises(InputError, match=words):
        make_columns(TABLE, "pairs").columns([name])


@pytest.mark.parametrize(
    ("recipes", "error", "words"),
    [
        ("pair", UnknownNameError, "no recipe for columns 'pair'. Did you mean 'pairs'"),
        ("", UnknownNameError, "no recipe for columns ''"),
        ("pairs,lags:2,lags:3", ParameterError, "'lags' is given twice"),
        ("pairs:3", ParameterError, "'pairs' takes no number: write pairs"),
        ("lags:x", ParameterError, "'lags:x' needs a whole number from 1 to"),
        ("lags:-1", ParameterError, "needs a whole number"),
        ("polynomial:1", ParameterError, "from 2 to 10"),
        ("polynomial:2,squares", ParameterError, "squares among them"),
        ("lags:90", ParameterError, "looks back 90 rows of 90"),
    ],
)
def test_recipes_that_make_no_sense_are_refused_before_anything_is_made(recipes, error, words):
    with pytest.raises(error, match=words):
        make_columns(TABLE, recipes)


def test_recipes_are_read():
    assert read_recipes([" pairs", "crosses", "lags:12"]) == [("pairs", 1), ("crosses", 16), ("lags", 12)]


@pytest.mark.parametrize(
    ("table", "recipes", "error", "words"),
    [
        (NUMBERS, "onehot", ParameterError, "no columns of categories"),
        (CATEGORIES, "pairs", ParameterError, "no columns of numbers"),
        (CATEGORIES, "logs", ParameterError, "no columns of numbers"),
        (NUMBERS.assign(age=np.nan), "pairs", InputError, "Row 0, column 'age' is nan"),
        (NUMBERS.assign(d=1e70), "triples", InputError, "Column 'd' has values up to 1e\\+70, and products of 3"),
        (sparse.csr_array(NUMBERS.values), "pairs", InputError, "dense data is required"),
    ],
)
def test_tables_that_make_no_columns_are_refused(table, recipes, error, words):
    with pytest.raises(error, match=words):
        make_columns(table, recipes)


def test_options_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(InputError, match="5 columns but 2 names"):
        make_columns(NUMBERS.values, "pairs", names=["a", "b"])
    with pytest.raises(InputError, match="no column 'x' to be taken as categories"):
        make_columns(NUMBERS, "pairs", categorical=["x"])
    with pytest.raises(InputError, match="X has 90 rows but y has 3"):
        make_columns(NUMBERS, "pairs", y=[1, 2, 3])
    with pytest.raises(ParameterError, match="knows its names"):
        make_columns(make_columns(NUMBERS, "pairs", Y), "pairs", names=["a"])


def test_codes_are_categories_where_they_are_marked():
    found = made("onehot", np.array([[1.0, 3.0], [2.0, 7.5], [3.0, 3.0]]), names=["a", "b"], categorical=["b"])
    assert found.to_dict("list") == {"b=3": [1.0, 0.0, 1.0], "b=7.5": [0.0, 1.0, 0.0]}


def test_a_name_that_is_there_already_is_refused():
    table = NUMBERS.rename(columns={"e": "age*income"})
    with pytest.raises(InputError, match=r"would be called 'age\*income', as another is"):
        Investing().run(make_columns(table, "pairs", Y))


@pytest.mark.compiled
def test_memory_does_not_grow_with_the_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 70)), rng.normal(size=60)

    def peak(n_base):
        source = make_columns(X[:, :n_base], "triples", y)
        tracemalloc.start()
        selector = Investing(wealth=0.01).run(source)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return selector.n_offered_, top

    peak(10)
    (few, low), (many, high) = peak(41), peak(69)
    assert few > 10_000
    assert many > 50_000
    table = (many - few) * 60 * 8  # what holding them would take
    assert high - low < table / 20
