"""The generators with concepts: one seed one stream, labels that follow their concept, drift where it is said to be."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.streams import generate
from streamsift.streams.generators.agrawal import READS, group
from streamsift.streams.generators.assets import CONCEPTS, FEATURES, PLACES, interested
from streamsift.streams.generators.rbf import RadialBasis, centres_of

NAMES = ("agr", "an", "bg1", "bg2", "bg3", "rtg", "sea", "rbf")
CLEAN = {"class_noise": 0.0}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(size=st.integers(1, 3500), seed=st.integers(0, 3), drift=st.sampled_from([None, "abrupt", "gradual"]))
def test_one_seed_one_stream_for_every_batch_size(name, size, seed, drift):
    options = {"n_rows": 3000, "seed": seed, "irrelevant": 5, "redundant": 3, "drift": drift, "width": 500}
    X, y = drain(generate(name, **options), size)
    whole, labels = drain(generate(name, **options), 3000)
    np.testing.assert_array_equal(X, whole)
    assert y == labels


@pytest.mark.parametrize("name", NAMES)
def test_other_seeds_and_other_blocks_give_other_rows(name):
    X, _ = drain(generate(name, n_rows=3000, irrelevant=4), 1000)
    other, _ = drain(generate(name, n_rows=3000, irrelevant=4, seed=1), 1000)
    numeric = X.shape[1] - 4  # the first irrelevant column
    assert len(np.unique(X[:, numeric])) > 2990
    assert not np.isin(X[:, numeric], other[:, numeric]).mean() > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_appended_columns_are_what_they_are_called(name):
    stream = generate(name, n_rows=20_000, irrelevant=7, redundant=4, n_values=3)
    batch = next(stream.batches(20_000))
    n_own = batch.X.shape[1] - 11
    assert batch.categorical is not None
    assert batch.categorical[n_own : n_own + 7].tolist() == [False] * 4 + [True] * 3
    assert stream.feature_names[n_own:] == (
        *(f"irrelevant_{k}" for k in range(7)),
        *(f"redundant_{k}" for k in range(4)),
    )
    assert stream.categories["irrelevant_4"] == ("v0", "v1", "v2")
    numeric, named = batch.X[:, n_own : n_own + 4], batch.X[:, n_own + 4 : n_own + 7]
    assert 0 <= numeric.min() < 0.01 < 0.99 < numeric.max() < 1
    np.testing.assert_allclose(numeric.mean(axis=0), 0.5, atol=0.02)
    for column in named.T:  # 20,000 draws: a share of a third has a standard error of 0.003
        np.testing.assert_allclose(np.bincount(column.astype(int)) / 20_000, np.full(3, 1 / 3), atol=0.02)
    label = batch.y - batch.y.mean()
    for column in batch.X[:, n_own : n_own + 7].T:
        assert abs(np.corrcoef(column, label)[0, 1]) < 0.04  # standard error 0.007
    for k in range(4):
        source, copy = batch.X[:, k % n_own], batch.X[:, n_own + 7 + k]
        # Another value in 5 % of the rows; where the source is continuous, never the same by chance.
        assert 0.03 < (source != copy).mean() < 0.07
    assert batch.relevant is not None
    assert (batch.relevant < n_own).all()


@pytest.mark.parametrize("function", range(1, 11))
def test_agrawal_labels_and_what_they_depend_on(function):
    """Without noise and perturbation the label is the function; a feature is true iff changing it changes labels."""
    stream = generate("agr", n_rows=4000, concepts=(function,), perturbation=0.0, seed=function)
    batch = next(stream.batches(4000))
    np.testing.assert_array_equal(batch.y, [naive_group(function, *map(float, row)) for row in batch.X])
    other = next(generate("agr", n_rows=4000, perturbation=0.0, class_share=None, seed=99).batches(4000)).X
    depends = []
    for place in range(9):
        changed = batch.X.copy()
        changed[:, place] = other[:, place]
        depends.append((group(function, changed) != batch.y).any())
    assert batch.relevant is not None
    assert np.flatnonzero(depends).tolist() == batch.relevant.tolist()
    assert len(batch.relevant) == len(READS[function])


def naive_group(function, salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan):
    """Agrawal et al. 1993, one applicant at a time; 0 is group A."""
    third = 0 if age < 40 else 1 if age < 60 else 2
    if function == 1:
        return int(third == 1)
    bands = [(50e3, 100e3), (75e3, 125e3), (25e3, 75e3)]
    if function in (2, 6):
        money = salary + (commission if function == 6 else 0.0)
        return int(not bands[third][0] <= money <= bands[third][1])
    levels = [(0, 1), (1, 2, 3), (2, 3, 4)][third]
    if function == 3:
        return int(elevel not in levels)
    if function == 4:
        yes, no = [((25e3, 75e3), bands[0]), (bands[0], bands[1]), (bands[0], bands[2])][third]
        low, high = yes if elevel in levels else no
        return int(not low <= salary <= high)
    if function == 5:
        inside = bands[third][0] <= salary <= bands[third][1]
        loans = [((100e3, 300e3), (200e3, 400e3)), ((200e3, 400e3), (300e3, 500e3)), ((300e3, 500e3), (100e3, 300e3))]
        low, high = loans[third][0 if inside else 1]
        return int(not low <= loan <= high)
    left = 2.0 * (salary + commission) / 3.0
    if function == 7:
        left += -loan / 5.0 - 20_000
    elif function == 8:
        left += -5_000.0 * elevel - 20_000
    elif function == 9:
        left += -5_000.0 * elevel - loan / 5.0 - 10_000
    else:
        equity = hvalue * (hyears - 20.0) / 10.0 if hyears >= 20 else 0.0
        left += -5_000.0 * elevel + equity / 5.0 - 10_000
    return int(not left > 0)


def test_agrawal_values_stay_in_their_ranges():
    X, _ = drain(generate("agr", n_rows=20_000, perturbation=0.3), 5000)
    stream = generate("agr", n_rows=1)
    coded = {name: set(np.unique(X[:, stream.feature_names.index(name)])) for name in stream.categories}
    assert coded == {"elevel": set(range(5)), "car": set(range(20)), "zipcode": set(range(9))}
    assert {name: len(values) for name, values in stream.categories.items()} == {"elevel": 5, "car": 20, "zipcode": 9}
    low, high = X.min(axis=0), X.max(axis=0)
    assert (low[[0, 2, 7, 8]] >= [20_000, 20, 1, 0]).all()
    assert (high[[0, 2, 6, 7, 8]] <= [150_000, 80, 1_350_000, 30, 500_000]).all()
    assert high[6] > 1_000_000  # the house value is not cut at a tenth of its range
    commission = X[:, 1]
    assert ((commission == 0) | (commission >= 10_000)).all()


@pytest.mark.parametrize("number", range(1, 6))
def test_assets_follow_their_clauses(number):
    batch = next(generate("an", n_rows=5000, concepts=(number,), **CLEAN).batches(5000))
    for row, label in zip(batch.X[:500], batch.y[:500], strict=True):
        offer = {feature.name: feature.values[int(code)] for feature, code in zip(FEATURES, row, strict=True)}
        wanted = any(all(offer[name] == value for name, value in clause.items()) for clause in CONCEPTS[number - 1])
        assert label == int(wanted)
    np.testing.assert_array_equal(batch.y, interested(number, batch.X))
    used = {PLACES[name] for clause in CONCEPTS[number - 1] for name in clause}
    assert batch.relevant is not None
    assert set(batch.relevant.tolist()) == used
    assert abs(batch.y.mean() - 0.5) < 0.04
    counts = [sum((batch.X[:, [PLACES[n] for n in c]] == [FEATURES[PLACES[n]].values.index(v) for n, v in c.items()])
                  .all(axis=1)) for c in CONCEPTS[number - 1]]  # fmt: skip
    assert max(counts) < 1.3 * min(counts)  # no clause is left out


def test_the_mean_number_of_true_features_of_the_default_concepts():
    """an 4, 3, 4; agr 1, 2, 2: Table 1 of the ABFS paper has the two the other way round."""
    for name, counts in {"an": [4, 3, 4], "agr": [1, 2, 2], "sea": [2, 2, 2], "bg1": [3, 3, 3]}.items():
        stream = generate(name, n_rows=3000, drift="abrupt")
        assert [len(segment.relevant) for segment in stream.segments()] == counts


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("bg1", lambda a, b, c: a and b and c),
        ("bg2", lambda a, b, c: (a and b) or (a and c) or (b and c)),
        ("bg3", lambda a, b, c: a == b == c),
    ],
)
def test_binary_concepts_follow_their_rule_before_and_after_drifts(name, rule):
    stream = generate(name, n_rows=8000, drift="abrupt", n_drifts=3, **CLEAN)
    seen = []
    for batch in stream.batches(2000):
        assert batch.relevant is not None
        seen.append(batch.relevant.tolist())
        truth = [int(rule(*row)) for row in batch.X[:, batch.relevant].astype(bool).tolist()]
        np.testing.assert_array_equal(batch.y, truth)
        assert abs(batch.y.mean() - 0.5) < 0.06
    assert seen == [[0, 1, 2], [3, 4, 5], [1, 3, 5], [0, 1, 3]]


def test_a_third_of_the_equal_rows_of_bg3_is_all_true():
    batch = next(generate("bg3", n_rows=20_000, **CLEAN).batches(20_000))
    assert batch.X[batch.y == 1, 0].mean() == pytest.approx(1 / 3, abs=0.02)
    equal_parts = next(generate("bg3", n_rows=20_000, all_true=0.5, **CLEAN).batches(20_000))
    assert equal_parts.X[equal_parts.y == 1, 0].mean() == pytest.approx(0.5, abs=0.02)


def test_sea_compares_the_sum_of_two_features_with_a_threshold():
    stream = generate("sea", n_rows=9000, drift="abrupt", **CLEAN)
    for batch, threshold in zip(stream.batches(3000), (5.0, 9.5, 9.0), strict=True):
        assert batch.relevant is not None
        total = batch.X[:, batch.relevant].sum(axis=1)
        np.testing.assert_array_equal(batch.y, (total > threshold).astype(int))
        assert batch.X.max() < 10


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_features_of_a_random_tree_are_those_that_can_change_its_labels(one_hot):
    """Only true features tell, and each of them does: a full grown tree fits the rows with them alone."""
    from sklearn.tree import DecisionTreeClassifier

    options = {"n_categorical": 3, "n_numeric": 3, "n_relevant": 3, "n_values": 3, "one_hot": one_hot}
    stream = generate("rtg", n_rows=8_000, concept_seed=4, **options)
    batch = next(stream.batches(8_000))
    true = batch.relevant
    assert true is not None
    if not one_hot:
        assert len(true) <= 3
    half = 4_000
    model = DecisionTreeClassifier(random_state=0).fit(batch.X[:half, true], batch.y[:half])
    assert model.score(batch.X[half:, true], batch.y[half:]) > 0.98
    for left_out in true if not one_hot else ():
        rest = [place for place in true if place != left_out]
        poorer = DecisionTreeClassifier(random_state=0, min_samples_leaf=50)
        poorer.fit(batch.X[:half][:, rest], batch.y[:half])
        assert poorer.score(batch.X[half:][:, rest], batch.y[half:]) < 0.98


def test_the_streams_of_the_fires_paper():
    tree = generate("rtg", n_rows=10_000, n_categorical=50, n_numeric=200, n_relevant=None, one_hot=True)
    batch = next(tree.batches(10_000))
    assert batch.X.shape == (10_000, 450)
    hot = batch.X[:, :250].reshape(10_000, 50, 5)
    np.testing.assert_array_equal(hot.sum(axis=2), 1)
    assert batch.categorical is None
    clouds = generate("rbf", n_rows=300, n_features=10_000)
    assert next(clouds.batches(300)).X.shape == (300, 10_000)


def test_rows_of_rbf_lie_around_their_centres():
    generator = RadialBasis(n_features=4, n_centres=3, n_labels=3, concept_seed=1)
    centres = centres_of(generator, 0)
    X, y = generator.rows(np.random.default_rng(0), 0, 60_000)
    distances = ((X[:, None, :] - centres.places) ** 2).sum(axis=2)
    near = distances.min(axis=1) < 1e-4  # so near that the centre is beyond doubt
    nearest = distances.argmin(axis=1)
    assert near.sum() > 50
    np.testing.assert_array_equal(y[near], centres.labels[nearest[near]])
    shares = np.bincount(y, minlength=3) / len(y)
    expected = np.bincount(centres.labels, weights=centres.weights, minlength=3)
    np.testing.assert_allclose(shares, expected, atol=0.01)
    # A row is a direction of length 1 times a normal number times the spread away from its centre.
    mean = centres.weights @ centres.places
    np.testing.assert_allclose(X.mean(axis=0), mean, atol=0.01)
    spread = (centres.weights * (centres.spreads**2 + ((centres.places - mean) ** 2).sum(axis=1))).sum()
    assert ((X - mean) ** 2).sum(axis=1).mean() == pytest.approx(spread, rel=0.03)
    assert not np.array_equal(centres_of(generator, 1).places, centres.places)


@pytest.mark.parametrize("name", ["agr", "an", "bg1", "bg2", "bg3", "sea", "rtg", "rbf"])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_the_class_share_is_the_one_asked_for(name, share):
    _, y = drain(generate(name, n_rows=20_000, class_share=share, **CLEAN), 10_000)
    assert np.mean(y) == pytest.approx(share, abs=0.02)  # standard error 0.003


def test_class_noise_flips_its_share_of_labels():
    for noise in (0.0, 0.1, 0.5):
        batch = next(generate("bg1", n_rows=20_000, class_noise=noise).batches(20_000))
        wrong = batch.y != batch.X[:, :3].all(axis=1)
        assert wrong.mean() == pytest.approx(noise, abs=0.02)
    batch = next(generate("rbf", n_rows=20_000, n_labels=4, class_noise=1.0).batches(20_000))
    clean = next(generate("rbf", n_rows=20_000, n_labels=4, class_noise=0.0).batches(20_000))
    np.testing.assert_array_equal(batch.X, clean.X)
    assert (batch.y != clean.y).all()  # replaced by another class, never by the same


def test_the_drifts_of_the_paper():
    stream = generate("sea", n_rows=200_000, drift="gradual")
    assert [(drift.row, drift.first, drift.last) for drift in stream.drifts] == [
        (66_666, 61_666, 71_665),
        (133_333, 128_333, 138_332),
    ]
    assert [(s.first, s.last, s.relevant) for s in stream.segments()] == [
        (0, 66_665, (0, 1)),
        (66_666, 133_332, (2, 3)),
        (133_333, 199_999, (4, 5)),
    ]


@settings(max_examples=30)
@given(size=st.integers(1, 400), width=st.integers(1, 300))
def test_a_batch_knows_whether_a_drift_is_under_way(size, width):
    stream = generate("bg1", n_rows=1200, drift="gradual", width=width)
    regions = [set(range(drift.first, drift.last + 1)) for drift in stream.drifts]
    assert [len(region) for region in regions] == [width, width]
    first = 0
    for batch in stream.batches(size):
        rows = set(range(first, first + batch.n_rows))
        assert batch.drifting == any(rows & region for region in regions)
        last = first + batch.n_rows - 1
        assert batch.relevant is not None
        assert batch.relevant.tolist() == [[0, 1, 2], [3, 4, 5], [1, 3, 5]][(last >= 400) + (last >= 800)]
        first += batch.n_rows


def test_a_gradual_drift_mixes_two_concepts_by_the_sigmoid_and_only_in_its_region():
    """bg1 without noise: a row with the old three all true and the new three not, of class 1, follows the old one."""
    stream = generate("bg1", n_rows=60_000, drift="gradual", positions=[30_000], width=20_000, n_drifts=1, **CLEAN)
    X, y = drain(stream, 10_000)
    X, y = X.astype(bool), np.array(y)
    old, new = X[:, :3].all(axis=1), X[:, 3:6].all(axis=1)
    tells = old != new  # rows on which the concepts disagree
    follows_new = (y == 1) == new
    rows = np.arange(60_000)
    assert not follows_new[tells & (rows < 20_000)].any()
    assert follows_new[tells & (rows >= 40_000)].all()
    for start in range(20_000, 40_000, 4_000):
        part = tells & (rows >= start) & (rows < start + 4_000)
        middle = start + 2_000
        # Among rows that tell, both concepts are equally often seen through each one's eyes.
        expected = 1 / (1 + np.exp(-4 * (middle - 30_000) / 20_000))
        assert follows_new[part].mean() == pytest.approx(expected, abs=0.05)


def test_width_is_cut_to_short_streams_and_positions_are_checked():
    assert generate("sea", n_rows=3000, drift="gradual").drifts[0].first == 750  # half of a third around row 1000
    assert [drift.row for drift in generate("sea", n_rows=100, drift="abrupt", positions=[7, 50, 99]).drifts] == [
        7,
        50,
        99,
    ]
    assert generate("sea", n_rows=100).drifts == ()
    for positions in ([50, 20], [0], [100], []):
        with pytest.raises(ParameterError, match="'positions' parameter of sea must be increasing row numbers"):
            generate("sea", n_rows=100, drift="abrupt", positions=positions)
    with pytest.raises(ParameterError, match="'width' parameter of sea must be at most the distance of two drifts, 10"):
        generate("sea", n_rows=100, drift="gradual", positions=[50, 60], width=20)


def test_refusals():
    with pytest.raises(UnknownNameError, match=r"There is no generator 'seea'. Did you mean 'sea'\?"):
        generate("seea")
    with pytest.raises(UnknownNameError, match="There is no option of sea called 'rows'"):
        generate("sea", rows=5)
    with pytest.raises(ParameterError, match="'irrelevant' parameter of bg2 must be an int"):
        generate("bg2", irrelevant=-1)
    with pytest.raises(ParameterError, match="'drift' parameter of an must be one of 'abrupt', 'gradual' or None"):
        generate("an", drift="sudden")
    with pytest.raises(ParameterError, match="'concepts' parameter of agr"):
        generate("agr", concepts=(11,))
    with pytest.raises(ParameterError, match="'class_share' parameter of rbf must be None"):
        generate("rbf", n_labels=3, class_share=0.5)
    with pytest.raises(ParameterError, match="'class_share' parameter of an must be a float"):
        generate("an", class_share=None)
    with pytest.raises(ParameterError, match="'class_share' parameter of sea asks for rows of class 0"):
        drain(generate("sea", n_rows=10, thresholds=(0.001,)), 10)


def test_a_wide_stream_keeps_only_its_batch():
    stream = generate("agr", n_rows=20_000, irrelevant=491, drift="gradual")
    for batch in stream.batches(1000):
        assert batch.X.dtype == np.float32
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in generate("agr", n_rows=20_000, irrelevant=491, drift="gradual").batches(1000):
        pass
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB; all rows would be 40,000


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_categories_of_a_random_tree_may_have_other_numbers_of_values_than_irrelevant_ones(one_hot):
    options = {"n_rows": 2_000, "irrelevant": 4, "concept_seed": 4, "one_hot": one_hot}
    stream = generate("rtg", n_values=2, own_values=3, **options)
    batch = next(iter(stream.batches(2_000)))
    own = 6 * (3 if one_hot else 1)
    if one_hot:
        assert (batch.X[:, :own].reshape(2_000, 6, 3).sum(axis=2) == 1).all()
    else:
        assert set(np.unique(batch.X[:, :own])) == {0.0, 1.0, 2.0}
    assert set(np.unique(batch.X[:, -2:])) == {0.0, 1.0}  # irrelevant categories come last
    same = generate("rtg", n_values=3, own_values=3, **options)
    plain = generate("rtg", n_values=3, **options)
    for one, other in zip(same.batches(500), plain.batches(500), strict=True):
        np.testing.assert_array_equal(one.X, other.X)
    with pytest.raises(ParameterError, match="own_values"):
        generate("rtg", own_values=1)
