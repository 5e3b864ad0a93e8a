"""compare from Python: all kinds side by side, repeats, resuming, failures, and what does not fit."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from bokeh.models import Scatter
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, log_loss
from sklearn.naive_bayes import GaussianNB
from tests.comparison.samples import DRIFT, people, timeless

from streamsift import catalog
from streamsift.comparison import compare as comparing
from streamsift.comparison import plan as planning
from streamsift.comparison.compare import carry_out, open_store
from streamsift.comparison.comparison import Comparison
from streamsift.comparison.metrics import scored_steps
from streamsift.comparison.plan import ComparedEntry, ComparedRun
from streamsift.comparison.protocols import Work, make_method, run_one, train_rows
from streamsift.comparison.repeats import Source, survey
from streamsift.core.exceptions import InputError, ParameterError, StreamsiftWarning, UnknownNameError
from streamsift.metrics import nogueira_stability, selection_accuracy

compare = partial(comparing.compare, baselines=())  # exactly the methods that a test names
plan_comparison = partial(planning.plan_comparison, baselines=())


def silent(fraction):
    pass


# -- all kinds --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything():
    """All kinds over a generated stream, whose truth is known."""
    methods = ["screen:fisher", "ofs", "osfs", "etana", "all", "random", "oracle"]
    return compare(DRIFT, methods=methods, models=["nb", "perceptron"], n_rows=1200, repeats=3, n_features_to_select=3)


def test_all_kinds_take_part_in_their_own_protocols(everything):
    entries = {entry["name"]: entry for entry in everything.as_dict()["entries"]}
    kinds = {name.partition(" ")[0]: (entry["kind"], entry["protocol"]) for name, entry in entries.items()}
    assert kinds == {
        "screen:fisher": ("rows", "prequential"),
        "ofs": ("rows", "prequential"),
        "all": ("baseline", "prequential"),
        "random": ("baseline", "prequential"),
        "oracle": ("baseline", "prequential"),
        "osfs": ("columns", "columns"),
        "etana": ("instances", "instances"),
    }
    assert len(entries) == 2 * 6 + 1
    assert everything.complete
    assert entries["etana"]["model"] is None
    assert entries["etana"]["cost"] == entries["etana"]["features"] > 0
    assert entries["oracle + naive_bayes"]["selection_accuracy"] == 1.0
    assert entries["oracle + naive_bayes"]["features"] == 3.0
    assert entries["all + naive_bayes"]["features"] == 15.0
    assert entries["random + naive_bayes"]["selection_accuracy"] < 0.9
    assert entries["screen:fisher + naive_bayes"]["accuracy"] > entries["random + naive_bayes"]["accuracy"]
    assert all(len(entry["accuracies"]) == 3 and not entry["failures"] for entry in entries.values())


def test_every_entry_has_all_figures_and_json_can_hold_them(everything):
    found = json.loads(json.dumps(everything.as_dict(), allow_nan=False))
    wanted = {
        "method", "model", "kind", "protocol", "name", "rank", "on_front", "accuracy", "accuracy_sd", "late_accuracy",
        "balanced_accuracy", "kappa", "log_loss", "f1", "stability", "features", "rows_per_second", "memory",
        "ram_hours", "seconds", "selection_accuracy", "accuracies", "failures", "cost", "trace", "curve",
        "n_restarts", "intervals", "rmse", "rmse_sd", "mae", "r2", "late_rmse",
    }  # fmt: skip
    assert len(found["entries"]) > 5
    for entry in found["entries"]:
        assert set(entry) == wanted
        assert entry["accuracy"] == pytest.approx(np.mean(entry["accuracies"]))
        assert 0 < len(entry["curve"]["rows"]) <= 400
        assert len({len(entry["curve"][name]) for name in ("rows", "accuracy", "stability", "n_selected")}) == 1
        assert entry["memory"] > 0


def test_ranks_tests_and_recommendation_are_about_the_row_protocol(everything):
    found = everything.as_dict()
    rows = [entry for entry in found["entries"] if entry["protocol"] == "prequential"]
    assert [entry["rank"] for entry in rows] == list(range(1, len(rows) + 1))
    assert sorted((entry["accuracy"] for entry in rows), reverse=True) == [entry["accuracy"] for entry in rows]
    assert found["tests"]["kind"] == "over streams"
    assert {pair[side] for pair in found["tests"]["pairs"] for side in ("first", "second")} == {
        entry["name"] for entry in rows
    }
    columns = [entry["name"] for entry in found["entries"] if entry["protocol"] == "columns"]
    assert list(found["tests_by_protocol"]) == ["prequential", "columns"]  # one method alone buys values
    assert found["tests_by_protocol"]["prequential"] == found["tests"]
    tested = found["tests_by_protocol"]["columns"]["pairs"]
    assert {pair[side] for pair in tested for side in ("first", "second")} == set(columns)
    assert found["verdict"] == "too few"  # three streams cannot tell a gap that matters from chance
    assert not any(entry["on_front"] for entry in rows if entry["kind"] == "baseline")


def test_the_table_adds_the_late_accuracy_where_protocols_meet(everything):
    table = everything.table()
    assert [row["name"] for row in table] == [entry["name"] for entry in everything.as_dict()["entries"]]
    assert "late_accuracy" in table[0]
    alone = compare(people(), methods=["ofs", "random"], repeats=1)
    assert "late_accuracy" not in alone.table()[0]


def test_it_shows_itself_in_a_notebook(everything):
    page = everything._repr_html_()
    assert page.count("<tr>") == 14
    assert "screen:fisher" in page
    assert all(entry["method"] in page for entry in everything.as_dict()["entries"])


def test_it_can_be_drawn(everything):
    (figure, _), listed = (part.children if hasattr(part, "children") else part for part in everything.plot().children)
    assert (figure.xaxis.axis_label, figure.yaxis.axis_label) == ("stability", "accuracy")
    marks = [renderer.data_source.data["name"] for renderer in figure.renderers if isinstance(renderer.glyph, Scatter)]
    names = {name for several in marks for names in several for name in names.split(", ")}
    assert len(names) == 12  # etana has no stability
    assert all(name in listed.text for name in names)


# -- protocols --------------------------------------------------------------------------------------------------


def plan_of(data, **options):
    return plan_comparison(data, **{"repeats": 1, "models": ["nb"], **options})


def test_the_column_protocol_is_train_then_test_in_stream_order():
    X, y = people()
    plan = plan_of((X, y), methods=["osfs"])
    found = run_one(Work(plan), plan.runs()[0], silent)
    selected = catalog.make("osfs").fit(X[:600], y[:600]).get_support(indices=True)
    model, predicted, chances = GaussianNB(), [], []
    for first in range(0, 1200, 100):
        rows = X[first : first + 100, selected]
        if first >= 600:
            predicted += model.predict(rows).tolist()
            chances += model.predict_proba(rows).tolist()
        model.partial_fit(rows, y[first : first + 100], classes=["f", "m"])
    assert found["selected"] == selected.tolist()
    assert found["accuracy"] == pytest.approx(np.mean(np.array(predicted) == y[600:]))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y[600:], predicted))
    assert found["kappa"] == pytest.approx(cohen_kappa_score(y[600:], predicted))
    assert found["f1"] == pytest.approx(f1_score(y[600:], predicted, average="macro"))
    assert found["log_loss"] == pytest.approx(log_loss(y[600:], chances))
    assert found["late_accuracy"] == found["accuracy"]


def test_the_instance_protocol_fits_on_the_first_half_and_classifies_the_second():
    X, y = people(n_classes=3)
    plan = plan_of((X, y), methods=["etana"])
    found = run_one(Work(plan), plan.runs()[0], silent)
    result = catalog.make("etana").fit(X[:600], y[:600]).classify(X[600:])
    assert found["accuracy"] == pytest.approx(np.mean(result.labels == y[600:]))
    assert found["cost"] == pytest.approx(result.n_evaluated.mean())
    assert found["log_loss"] == pytest.approx(log_loss(y[600:], result.posteriors))


def test_the_late_accuracy_of_rows_is_over_the_second_half():
    X, y = people()
    plan = plan_of((X, y), methods=["all"])
    found = run_one(Work(plan), plan.runs()[0], silent)
    model, right = GaussianNB(), []
    for first in range(0, 1200, 100):
        if first >= 600:
            right += (model.predict(X[first : first + 100]) == y[first : first + 100]).tolist()
        model.partial_fit(X[first : first + 100], y[first : first + 100], classes=["f", "m"])
    assert found["late_accuracy"] == pytest.approx(np.mean(right))


def test_the_stability_of_columns_is_between_repeats():
    X, y = people()
    plan = plan_of((X, y), methods=["penalised:aic"], repeats=3)
    outcomes = list(carry_out(plan))
    masks = np.zeros((3, 8), bool)
    for outcome in outcomes:
        masks[outcome.task.repeat, outcome.result["selected"]] = True
    assert Comparison.of(plan, outcomes).table()[0]["stability"] == pytest.approx(nogueira_stability(masks))


def test_a_column_method_that_selects_nothing_predicts_the_frequent_class():
    X, y = np.zeros((1000, 3)), (np.random.default_rng(1).random(1000) < 0.2).astype(int)
    plan = plan_of((X, y), methods=["osfs"])
    found = run_one(Work(plan), plan.runs()[0], silent)
    assert found["selected"] == []
    assert found["accuracy"] == pytest.approx(np.mean(y[500:] == 0))


@pytest.mark.parametrize("method", ["investing", "penalised:bic", "stepwise", "osfs"])
def test_column_methods_take_several_classes(method):
    X, y = people(600, n_classes=3)
    plan = plan_of((X, y), methods=[method])
    assert run_one(Work(plan), plan.runs()[0], silent)["accuracy"] > 0.5


def test_methods_get_the_number_of_features_and_the_seed_they_take():
    plan = plan_of(people(), methods=["fires", "abfs", "random"], n_features_to_select=3, seed=5, repeats=2)
    fires, abfs, chance = (
        make_method(plan, ComparedRun(ComparedEntry(name, "sgd"), 1)) for name in ("fires", "abfs", "random")
    )
    assert (fires.n_features_to_select, fires.random_state) == (3, 6)
    assert "n_features_to_select" not in abfs.get_params()
    assert (chance.n_features_to_select, chance.random_state) == (3, 6)


def test_columns_are_judged_by_the_true_features_of_the_half_they_were_selected_from():
    data = "generate:linear_drift,n_features=12,n_relevant=2,shift_every=600"
    plan = plan_of(data, methods=["investing", "etana"], n_rows=2000)
    selects, buys = (run_one(Work(plan), run, silent) for run in plan.runs())
    batches = list(plan.source.stream(0).batches(100))
    truths = [batch.relevant for batch in batches]
    assert len({tuple(truth.tolist()) for truth in truths[:10]}) == 2  # they change within the half
    wanted = np.mean([selection_accuracy(selects["selected"], truth, 12) for truth in truths[:10]])
    assert selects["selection_accuracy"] == pytest.approx(wanted)
    assert selects["selection_accuracy"] > 0.5
    assert buys["selection_accuracy"] is None
    selected = catalog.make("investing").fit(np.concatenate([batch.X for batch in batches[:10]]),
                                             np.concatenate([batch.y for batch in batches[:10]]))  # fmt: skip
    assert selects["selected"] == selected.get_support(indices=True).tolist()
    unknown = plan_of(people(), methods=["investing"])
    assert run_one(Work(unknown), unknown.runs()[0], silent)["selection_accuracy"] is None


def test_the_halves_are_whole_batches():
    assert [train_rows(n, 100) for n in (300, 1000, 1001, 1199, 1200)] == [100, 500, 500, 500, 600]


# -- resuming ---------------------------------------------------------------------------------------------------

RESUMED = {"methods": ["screen:fisher", "osfs", "random"], "repeats": 2, "n_features_to_select": 2}


def test_a_comparison_goes_on_where_it_stopped(tmp_path):
    data = people()
    plan = plan_comparison(data, **RESUMED)
    first = carry_out(plan, open_store(tmp_path, plan))
    before = [next(first) for _ in range(4)]
    first.close()
    store, begun = open_store(tmp_path, plan), []
    store.path(before[0].task).write_text('{"accura')  # a disk that was full
    outcomes = list(carry_out(plan, store, progress=lambda run, fraction: begun.append(run)))
    assert set(begun) == {before[0].task} | (set(plan.runs()) - {one.task for one in before})
    resumed, straight = Comparison.of(plan, outcomes, store), compare(data, **RESUMED)
    for ours, theirs in zip(resumed.as_dict()["entries"], straight.as_dict()["entries"], strict=True):
        assert timeless(ours) | {"trace": None} == timeless(theirs)
    traces = {entry["name"]: entry["trace"] for entry in resumed.as_dict()["entries"]}
    assert traces["osfs + naive_bayes"] is None
    assert (tmp_path / traces["random + naive_bayes"]).is_file()


def test_more_repeats_and_methods_may_join(tmp_path):
    data, begun = people(), []
    compare(data, methods=["ofs"], repeats=1, folder=tmp_path)
    plan = plan_comparison(data, methods=["ofs", "efs"], repeats=2)
    store = open_store(tmp_path, plan)
    list(carry_out(plan, store, progress=lambda run, fraction: begun.append(run.label)))
    assert set(begun) == {"efs + naive_bayes, repeat 1", "ofs + naive_bayes, repeat 2", "efs + naive_bayes, repeat 2"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"batch_size": 50}, "batch_size was 100 there and is 50 here"),
        ({"seed": 3}, "seed was 0 there and is 3 here"),
        ({"n_features_to_select": 4}, "n_features_to_select was None there and is 4 here"),
        ({"n_rows": 600}, "rows was 1200 there and is 600 here"),
        ({"data": people(seed=1)}, "the rows themselves differ"),
    ],
)
def test_a_folder_of_another_comparison_is_refused(tmp_path, change, words):
    compare(people(), methods=["random"], repeats=1, folder=tmp_path)
    with pytest.raises(ParameterError, match=words) as caught:
        compare(**{"data": people(), "methods": ["random"], "repeats": 1, "folder": tmp_path, **change})
    assert "another folder" in str(caught.value)


def test_an_interrupted_comparison_compares_what_there_is():
    plan = plan_comparison(people(), methods=["screen:fisher", "ofs", "random"], repeats=4)
    running = carry_out(plan)
    partial = Comparison.of(plan, [next(running) for _ in range(10)])
    running.close()
    found = partial.as_dict()
    assert not found["complete"]
    assert {entry["name"]: len(entry["accuracies"]) for entry in found["entries"]} == {
        "screen:fisher + naive_bayes": 4,
        "ofs + naive_bayes": 3,
        "random + naive_bayes": 3,
    }
    assert found["tests"]["kind"] == "over time"  # of the first repeat, which all have finished
    assert len(found["tests"]["pairs"]) == 3


def test_the_number_of_processes_changes_nothing_but_times():
    methods = ["screen:fisher", "saola", "f_etana", "random"]
    one, two = (compare(people(600), methods=methods, repeats=2, jobs=jobs).as_dict() for jobs in (1, 2))
    assert [timeless(entry) for entry in one["entries"]] == [timeless(entry) for entry in two["entries"]]
    assert one["recommendation"] == two["recommendation"]


# -- what goes wrong --------------------------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch):
    """A method that fails in all repeats but the first, under the name of `efs`."""
    fails = "tests.comparison.failing_runs:FailsInOneRepeat"
    entry = catalog.Entry(fails, "rows", "Fails.", "None", {"criterion": "fisher"})
    monkeypatch.setitem(catalog._TABLE, "efs", entry)


def test_a_run_that_fails_is_in_the_table_and_the_others_go_on(failing, tmp_path):
    X, y = people()
    X[0] = 0.0
    for seed in range(100):  # one whose second repeat lacks the first row and whose third does not
        firsts = [next(Source((X, y), None, None, seed).stream(repeat).batches(1)).X[0] for repeat in (1, 2)]
        if firsts[0].any() and not firsts[1].any():
            break
    comparison = compare((X, y), methods=["efs", "ofs", "random"], repeats=3, seed=seed, folder=tmp_path)
    entries = {entry["method"]: entry for entry in comparison.as_dict()["entries"]}
    assert entries["efs"]["failures"] == ["repeat 2: RuntimeError: lost its way"]
    assert len(entries["efs"]["accuracies"]) == 2
    assert len(entries["ofs"]["accuracies"]) == 3
    assert comparison.complete
    assert [{pair["first"], pair["second"]} for pair in comparison.as_dict()["tests"]["pairs"]] == [
        {"ofs + naive_bayes", "random + naive_bayes"}
    ]
    assert len(list((tmp_path / "runs").glob("efs*.json"))) == 2  # what failed is tried again


def test_a_method_that_always_fails_has_no_rank(monkeypatch):
    monkeypatch.setitem(catalog._TABLE, "efs", catalog.Entry("streamsift.nowhere:Lost", "rows", "", ""))
    monkeypatch.setattr("streamsift.comparison.plan.misfit", lambda method, facts: None)
    found = compare(people(), methods=["efs", "ofs"], repeats=2).as_dict()
    assert [(entry["method"], entry["rank"]) for entry in found["entries"]] == [("ofs", 1), ("efs", None)]
    assert "No module named" in found["entries"][1]["failures"][0]
    assert found["entries"][1]["curve"] is None


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(UnknownNameError, match=r"no method 'fire'\. Did you mean 'fires'"):
        compare(people(), methods=["fire"])
    with pytest.raises(UnknownNameError, match=r"no method 'randm'\. Did you mean 'random'"):
        compare(people(), methods=["randm"])
    with pytest.raises(UnknownNameError, match=r"no model 'naive_byes'\. Did you mean 'naive_bayes'"):
        compare(people(), models=["naive_byes"])


def test_short_names_of_models():
    plan = plan_comparison(people(), methods=["ofs"], models=["nb", "knn", "ht", "hat", "sgd", "nb"])
    assert [entry.model for entry in plan.entries] == [
        "naive_bayes", "neighbours", "hoeffding_tree", "adaptive_tree", "sgd",
    ]  # fmt: skip


def test_sparse_rows_leave_out_what_takes_none():
    X, y = people()
    rows = sparse.csr_matrix(np.where(X > 0, X, 0.0)), y
    plan = plan_comparison(rows, baselines=["random"])
    assert ("abfs", "it takes no sparse rows") in plan.left_out
    assert {"screen:fisher", "osfs", "etana", "random"} <= {entry.method for entry in plan.entries}
    with pytest.raises(InputError, match=r"'abfs' does not fit the data: it takes no sparse rows\. These do: screen"):
        compare(rows, methods=["ofs", "abfs"])
    found = compare(rows, methods=["ofs", "osfs", "etana", "all"], repeats=1).as_dict()
    assert [entry["failures"] for entry in found["entries"]] == [[]] * 4


def test_methods_with_one_test_for_all_columns_are_left_out_where_columns_are_mixed():
    mixed = plan_comparison("generate:sea,irrelevant=4", n_rows=500)
    assert {method for method, _ in mixed.left_out} == {"osfs", "fast_osfs", "saola"}
    assert plan_comparison(DRIFT, n_rows=500).left_out == ()


def test_a_method_for_two_classes_refuses_three(monkeypatch):
    from streamsift.core.tags import StreamTags
    from streamsift.rows.ofs import OFS

    monkeypatch.setattr(OFS, "stream_tags", lambda self: StreamTags(multi_class="none"))
    assert "ofs" in [entry.method for entry in plan_comparison(people()).entries]
    with pytest.raises(InputError, match="it distinguishes two classes, and there are 3"):
        compare(people(n_classes=3), methods=["ofs"])


def test_a_grid_over_too_many_classes_is_left_out_or_refused():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 2000)
    X = rng.normal(size=(2000, 4)) + y[:, None] * [1, 0, 0, 0]
    plan = plan_of((X, y), task="classification")
    assert dict(plan.left_out)["etana"] == "its grid over the probabilities of 40 classes would not fit into memory"
    assert "f_etana" in [entry.method for entry in plan.entries]
    with pytest.raises(InputError, match=r"'etana' does not fit the data: its grid .* These do: .*f_etana"):
        plan_of((X, y), methods=["ofs", "etana"], task="classification")
    assert plan_of(people(n_classes=3), methods=["etana"]).left_out == ()


def test_more_features_than_there_are_is_said_once():
    with pytest.warns(StreamsiftWarning, match="20 features were asked for and there are 8") as caught:
        found = compare(people(600), methods=["ofs", "random"], repeats=2, n_features_to_select=20).as_dict()
    assert len(caught) == 1
    assert [entry["features"] for entry in found["entries"]] == [8.0, 8.0]
    plan_of(people(600), methods=["ofs"], n_features_to_select=8)  # warns of nothing


def test_the_oracle_needs_the_truth():
    with pytest.raises(InputError, match="'oracle' does not fit the data: the true features are known of generated"):
        compare(people(), methods=["oracle"])
    assert "oracle" in [entry.method for entry in plan_comparison("generate:sea").entries]


@pytest.mark.parametrize("as_sparse", [False, True])
def test_missing_values_are_refused_with_their_place(as_sparse):
    X, y = people()
    X[1100, 3] = np.nan
    with pytest.raises(InputError, match="Row 1100 has no finite number in column 'x3'"):
        survey(Source((sparse.csr_matrix(X) if as_sparse else X, y), None, None, 0))


def test_one_class_is_refused():
    X, _ = people()
    with pytest.raises(InputError, match="All 1,200 rows have the same label"):
        compare((X, np.zeros(1200)))


def test_sorted_labels_fail_in_words_where_the_first_half_is_learnt():
    X, y = people()
    order = np.argsort(y, kind="stable")[300:]
    assert set(y[order][: train_rows(900, 100)]) == {"f", "m"}
    found = compare((X[order], y[order]), methods=["etana", "ofs"], repeats=1).as_dict()
    failures = {entry["method"]: entry["failures"] for entry in found["entries"]}
    assert failures == {"ofs": [], "etana": []}  # the first half still has 182 rows of the second class
    early = np.concatenate([np.flatnonzero(y == "f")[:600], np.flatnonzero(y == "m")[:400]])
    found = compare((X[early], y[early]), methods=["etana"], repeats=1).as_dict()
    assert "have one label only" in found["entries"][0]["failures"][0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch_size": 500}, "fewer than 3 batches of 500"),
        ({"models": []}, "nothing to compare"),
        ({"methods": []}, "nothing to compare"),
        ({"repeats": 0}, "'repeats' parameter"),
        ({"jobs": 0}, "'jobs' parameter"),
        ({"data": "generate:sea,irrelevant"}, "not of the form option=value"),
        ({"data": "generate:sea", "ignore": ["x0"]}, "The option ignore does not apply to generate:sea"),
        ({"data": lambda seed: None, "jobs": 2}, "define it in a module"),
    ],
)
def test_bad_arguments_are_refused_in_words(options, words):
    with pytest.raises(ParameterError, match=words):
        compare(**{"data": people(), **options})


def test_labels_that_never_come_fail_in_words():
    found = compare(people(), methods=["screen:fisher", "random", "etana"], repeats=2, label_delay=1100).as_dict()
    late = {entry["method"]: entry["failures"] for entry in found["entries"]}
    assert [failure.partition(":")[0] for failure in late["random"]] == ["repeat 1", "repeat 2"]
    assert "labels come 1,100 rows late, and there are 1,200 rows" in late["screen:fisher"][0]
    assert late["etana"] == []
    assert found["recommended"] == "etana"


def test_one_repeat_of_a_file_is_tested_over_time_and_more_repeats_change_nothing_about_it():
    one, three = (
        compare(people(600), methods=["screen:fisher", "random"], repeats=repeats, batch_size=10).as_dict()
        for repeats in (1, 3)
    )
    assert one["tests"]["kind"] == three["tests"]["kind"] == "over time"
    assert one["tests"]["n"] == 59
    assert one["tests"]["pairs"] == three["tests"]["pairs"]  # repeats share their rows: they are no new evidence
    pair, first = one["tests"]["pairs"][0], one["entries"][0]
    assert pair["difference"] == pytest.approx(first["accuracies"][0] - one["entries"][1]["accuracies"][0])
    assert one["untested"] is None


def test_streams_made_anew_are_tested_over_streams_and_one_alone_over_time():
    options = {"methods": ["screen:fisher", "random", "all"], "n_rows": 600}
    three, one = (compare("generate:sea", repeats=repeats, **options).as_dict()["tests"] for repeats in (3, 1))
    assert (three["kind"], three["n"]) == ("over streams", 3)
    assert set(three["average_ranks"]) == {f"{method} + naive_bayes" for method in options["methods"]}
    assert (one["kind"], one["n"], one["average_ranks"]) == ("over time", 5, None)
    assert {pair["verdict"] for pair in one["pairs"]} <= {"too few", "alike"}


def test_methods_of_columns_and_instances_are_tested_over_the_time_of_the_second_half():
    found = compare(people(600), methods=["saola", "fast_osfs", "etana", "f_etana"], repeats=1, batch_size=10).as_dict()
    assert {protocol: test["n"] for protocol, test in found["tests_by_protocol"].items()} == {
        "columns": 30, "instances": 30,
    }  # fmt: skip
    for test in found["tests_by_protocol"].values():
        accuracy = {entry["name"]: entry["accuracy"] for entry in found["entries"]}
        pair = test["pairs"][0]
        assert pair["difference"] == pytest.approx(accuracy[pair["first"]] - accuracy[pair["second"]])


def test_a_resumed_comparison_is_tested_from_what_was_kept(tmp_path):
    options = {"methods": ["screen:fisher", "random"], "repeats": 1, "batch_size": 10, "folder": tmp_path}
    first, again = (compare(people(600), **options).as_dict() for _ in range(2))
    assert first["tests"] == again["tests"]


def test_steps_of_a_very_long_run_are_joined():
    ends = np.arange(1.0, 10_002.0)
    counts = np.zeros((3, 10_001, 2), int)
    counts[1, :, 0] = counts[2, :, 0] = 1
    counts[0, :, 0] = ends % 2
    found = scored_steps(ends, counts, np.zeros(10_001))
    assert len(found["ends"]) == len(found["rows"]) == len(found["hits"]) == len(found["f1"]) == 3334
    assert (found["ends"][0], found["ends"][-1]) == (3, 10_001)
    assert (sum(found["rows"]), sum(found["hits"])) == (10_001, 5_001)


def test_scaling_is_said_and_can_be_switched_off(tmp_path):
    options = {"methods": ["random"], "models": ["perceptron", "nb", "ht"], "repeats": 1}
    found = compare(people(600), **options, folder=tmp_path).as_dict()
    assert found["scale"] == "standard"
    assert [(judge["model"], judge["scaled"], judge["n_restarts"]) for judge in sorted(
        found["judges"], key=lambda judge: judge["model"]
    )] == [("hoeffding_tree", False, 0), ("naive_bayes", False, 0), ("perceptron", True, 0)]  # fmt: skip
    sentences = {judge["model"]: judge["sentence"] for judge in found["judges"]}
    assert "standardised by the rows so far" in sentences["perceptron"]
    assert "only from the rows in which it was selected" in sentences["hoeffding_tree"]
    assert sentences["naive_bayes"] == ""
    raw = compare(people(600), **options, scale="none").as_dict()
    assert not any(judge["scaled"] for judge in raw["judges"])
    with pytest.raises(ParameterError, match="scale was 'standard' there"):
        compare(people(600), **options, scale="none", folder=tmp_path)
    with pytest.raises(ParameterError, match="scale"):
        compare(people(600), **options, scale="minmax")


def test_a_protocol_without_a_test_beside_one_that_has_it_is_named():
    methods = ["screen:fisher", "random", "etana", "f_etana"]
    plan = plan_comparison(people(600), methods=methods, repeats=1)
    outcomes = [one for one in carry_out(plan) if one.task.entry.method != "etana"]
    found = Comparison.of(plan, outcomes).as_dict()
    assert list(found["tests_by_protocol"]) == ["prequential"]
    assert "differences in protocol instances are" in found["untested"]


@pytest.mark.parametrize("option", ["methods", "models"])
def test_one_name_instead_of_a_list_is_refused(option):
    with pytest.raises(ParameterError, match="lists of names"):
        compare(people(), **{option: "fires"})
