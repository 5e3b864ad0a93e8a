"""Several settings of one method in a comparison, and methods given as objects."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from streamsift import OSFS, Screener
from streamsift.comparison.compare import compare
from streamsift.comparison.methods import checked_name, named, split_name
from streamsift.comparison.plan import plan_comparison
from streamsift.comparison.protocols import make_method
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.instances.etana import ETANA


def people(n_rows=600):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 8))
    X[:, 2] += 2.0 * y
    return X, y


class FirstColumn(BaseEstimator):
    """Somebody's own selector: the first columns."""

    def __init__(self, how_many=1, key=None):
        self.how_many = how_many
        self.key = key

    def partial_fit(self, X, y=None, classes=None):
        """Remember the width."""
        self.width_ = X.X.shape[1]
        return self

    def get_support(self, indices=False):
        """The first columns."""
        mask = np.arange(self.width_) < self.how_many
        return np.flatnonzero(mask) if indices else mask


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("screen:t_score", "screen:t_score"),
        ("screen:t_score( fading = 0.98 )", "screen:t_score(fading=0.98)"),
        ("screen:t_score(fading=0.98,n_features_to_select=3)", "screen:t_score(fading=0.98, n_features_to_select=3)"),
        ("all", "all"),
    ],
)
def test_a_name_with_settings_is_written_in_one_way_and_read_back(text, name):
    assert checked_name(text) == name
    assert checked_name(name) == name
    assert split_name(text) == split_name(name)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("screen:t_scor(fading=0.9)", UnknownNameError, "Did you mean 'screen:t_score'"),
        ("screen:t_score(fadin=0.9)", UnknownNameError, "Did you mean 'fading'"),
        ("screen:t_score(fading=7)", ParameterError, "fading"),
        ("screen:t_score(fading)", ParameterError, "not of the form name=value"),
        ("screen:t_score(fading=0.9,fading=0.8)", ParameterError, "given twice"),
        ("screen:t_score(fading=0.9", ParameterError, "no method with settings"),
        ("screen:t_score(criterion=gini)", ParameterError, "stands for criterion"),
        ("all(k=1)", ParameterError, "takes no settings"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words(text, error, words):
    with pytest.raises(error, match=words):
        compare(people(), methods=[text])


def test_several_settings_of_one_method_stand_side_by_side(tmp_path):
    methods = ["screen:t_score", "screen:t_score(fading=0.9)", "screen:t_score(n_features_to_select=1)"]
    options = {"methods": methods, "repeats": 2, "n_features_to_select": 3, "folder": tmp_path}
    found = compare(people(), **options).as_dict()
    features = {one["method"]: one["features"] for one in found["entries"] if one["kind"] == "rows"}
    assert features == dict(zip(methods, (3.0, 3.0, 1.0), strict=True))  # what a name says goes before -k
    assert {pair["first"] for pair in found["tests"]["pairs"]} & {f"{method} + naive_bayes" for method in methods}
    names = [path.name for path in (tmp_path / "runs").glob("screen_t_score_fading_0.9_*.json")]
    assert len(names) == 2
    again = compare(people(), **options).as_dict()
    assert json.dumps(again["entries"]) == json.dumps(found["entries"])


def test_more_settings_join_everything_that_fits():
    plan = plan_comparison(people(), also=["screen:t_score(fading=0.9)"])
    names = [entry.method for entry in plan.entries]
    assert {"screen:t_score", "screen:t_score(fading=0.9)", "fires", "all", "random", "majority"} <= set(names)


def test_objects_of_every_kind_take_part_beside_names():
    mine = FirstColumn(2)
    methods = ["screen:fisher", Screener("gini", n_features_to_select=1), OSFS(), ETANA(), mine]
    found = compare(people(), methods=methods, repeats=2, n_features_to_select=3).as_dict()
    kinds = {one["name"]: (one["kind"], one["features"], one["failures"]) for one in found["entries"]}
    assert kinds["screen:fisher + naive_bayes"] == ("rows", 3.0, [])
    assert kinds["Screener(criterion=gini, n_features_to_select=1) + naive_bayes"] == ("rows", 1.0, [])
    assert kinds["FirstColumn(how_many=2) + naive_bayes"] == ("rows", 2.0, [])
    assert kinds["OSFS() + naive_bayes"][0] == "columns"
    assert kinds["ETANA()"][0] == "instances"
    assert not hasattr(mine, "width_")  # clones have learnt


def test_an_object_says_the_same_as_its_name():
    by_name, by_object = (
        compare(people(), methods=[method], repeats=2, n_features_to_select=2).as_dict()["entries"][0]
        for method in ("screen:fisher", Screener("fisher"))
    )
    assert by_name["accuracies"] == by_object["accuracies"]


def test_what_an_object_leaves_open_is_given_by_the_comparison():
    plan = plan_comparison(people(), methods=[Screener("fisher"), Screener("gini", n_features_to_select=1)],
                           n_features_to_select=3, baselines=())  # fmt: skip
    assert [make_method(plan, run).n_features_to_select for run in plan.runs()[:2]] == [3, 1]


def test_names_of_objects_are_unique_and_long_values_do_not_make_them_long():
    names = list(named([FirstColumn(), FirstColumn(), FirstColumn(key="a" * 500), FirstColumn(key="a" * 501)]))
    assert names[:2] == ["FirstColumn()", "FirstColumn() 2"]
    assert len(set(names)) == 4
    assert max(map(len, names)) < 80


def test_objects_survive_other_processes():
    options = {"methods": [FirstColumn(2), Screener("gini")], "repeats": 2, "n_features_to_select": 2}
    one, two = (compare(people(), jobs=jobs, **options).as_dict()["entries"] for jobs in (1, 2))
    assert [entry["accuracies"] for entry in one] == [entry["accuracies"] for entry in two]
    assert [entry["failures"] for entry in two] == [[]] * 5


def test_what_cannot_be_sent_to_other_processes_is_refused_in_words():
    class Local(FirstColumn):
        pass

    for made in (Local(), FirstColumn(key=lambda: 0)):
        with pytest.raises(ParameterError, match=r"Other processes cannot make .*in a module, or jobs=1"):
            compare(people(), methods=[made], jobs=2)
    assert compare(people(), methods=[Local()], repeats=1).as_dict()["entries"][-1]["failures"] == []


@pytest.mark.parametrize("wrong", [object(), Screener, BaseEstimator(), 5])
def test_what_is_no_method_is_refused_in_words(wrong):
    with pytest.raises(ParameterError, match=r"is no method|cannot take part"):
        compare(people(), methods=[wrong])


def test_baselines_can_be_chosen():
    plan = plan_comparison(people(), methods=["ofs"], baselines=["majority"])
    assert [entry.name for entry in plan.entries] == ["ofs + naive_bayes", "majority"]
    with pytest.raises(UnknownNameError, match="no baseline 'al'"):
        compare(people(), methods=["ofs"], baselines=["al"])
