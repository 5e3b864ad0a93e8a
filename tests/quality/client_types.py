"""What a user may write, and what a type checker must refuse: test_client_types.py runs mypy over this file.

A line that must be refused ends with the code of its error. Nothing here is ever run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamsift
from streamsift import (
    ABFS,
    ETANA,
    FETANA,
    FIRES,
    GLM,
    Comparison,
    Decision,
    InputError,
    Investing,
    Screener,
    Selection,
    StreamingSplit,
    StreamPipeline,
    StreamsiftError,
    Trace,
    catalog,
    compare,
    drift,
    generate,
    load,
    metrics,
    open_columns,
    open_stream,
    prequential,
    run_checks,
    save,
)

if TYPE_CHECKING:  # pytest imports every file to look for doctests
    X, y = [[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]

    # Rows
    selector = Screener(criterion="fisher", n_features_to_select=0.5)
    selector.partial_fit(X, y).partial_fit(X, y, classes=["no", "yes"])
    selector.set_params(fading=0.99).fit(X, y)
    selection: Selection = selector.selection()
    names: list[str] = selector.selected_
    n_features: int = selector.n_features_in_
    selector.get_support(indices=True).tolist()
    selector.merge(Screener())
    Screener(scroe="x")  # error: call-arg
    Screener(criterion=3)  # error: arg-type
    Screener().partail_fit(X, y)  # error: attr-defined
    Screener().fit(X, y).slected_  # error: attr-defined
    count: int = selector.selection()  # error: assignment
    selector.merge(ABFS())  # error: arg-type
    FIRES(model=GLM(), random_state=0).fit_transform(X, y)
    FIRES(modle="glm")  # error: call-arg
    FIRES(random_state="one")  # error: arg-type

    # Columns
    investing = Investing(criterion="iic").begin([1.0, 2.0])
    decision: Decision = investing.offer([0.0, 1.0], "time", categorical=False)
    accepted: list[str] = investing.run(open_columns("table.parquet", "y")).selected_
    Investing(critreion="iic")  # error: call-arg
    investing.ofer([0.0, 1.0])  # error: attr-defined
    investing.offer([0.0, 1.0], nmae="time")  # error: call-arg
    text: str = investing.offer([0.0, 1.0])  # error: assignment
    open_columns("table.parquet", traget="y")  # error: call-arg

    # Instances
    model = ETANA(feature_cost=0.1, categorical=[0]).fit(X, y)
    accuracy: float = model.score(X, y)
    used: int = model.classify_one(lambda j: X[0][j]).n_evaluated
    FETANA(random_state=0).predict_proba(X).mean()
    ETANA(categorical_features=[0])  # error: call-arg
    model.classfy(X)  # error: attr-defined
    model.classify(X).lables  # error: attr-defined
    word: str = model.classify_one(lambda j: X[0][j]).cost  # error: assignment

    # Streams
    stream = open_stream("people.csv", target="income", categorical=["zip_code"])
    for batch in stream.batches(batch_size=100):
        selector.partial_fit(batch.X, batch.y)
    open_stream("people.csv", traget="income")  # error: call-arg
    stream.batch(100)  # error: attr-defined
    open_stream("people.csv").partial_fit(X, y)  # error: attr-defined
    n_drifts: int = len(generate("sea", n_rows=1000, seed=1, drift="abrupt").drifts)
    generate("sea", n_rows="many")  # error: arg-type

    # Judging
    comparison: Comparison = compare("people.csv", "income", methods=["fires"], n_rows=1000, seed=1)
    compare("people.csv", rows=1000)  # error: call-arg
    compare("people.csv").tabel()  # error: attr-defined
    trace: Trace = prequential(stream, selector, "naive_bayes", batch_size=50)
    prequential(stream, selector, "naive_bayes", batchsize=50)  # error: call-arg
    prequential(stream, selector, "naive_bayes").plto()  # error: attr-defined
    outcome: str = prequential(stream, None, "naive_bayes")  # error: assignment
    stability: float = metrics.jaccard([0], [0, 1])
    metrics.jacard([0], [0, 1])  # error: attr-defined
    drift.ADWIN(delta=0.01).update(0.5)
    drift.ADWIN(detla=0.01)  # error: call-arg
    results: dict[str, str] = run_checks(lambda: Screener())

    # Files
    save(selector, Path("selector.streamsift"))
    save(3, "selector.streamsift")  # error: arg-type
    again: Screener = load("selector.streamsift", method=Screener)
    anything = load("selector.streamsift").partial_fit(X, y)
    load("selector.streamsift", method=Screener).partail_fit(X, y)  # error: attr-defined
    load("selector.streamsift", maxbytes=3)  # error: call-overload
    other: ABFS = load("selector.streamsift", method=Screener)  # error: assignment

    # Pipelines
    pipeline = StreamPipeline([("select", selector), ("learn", "sgd")], missing="mean").partial_fit(X, y)
    share: float = pipeline.fit(X, y).score(X, y)
    n_restarts: int = pipeline.n_restarts_
    save(pipeline, "pipeline.streamsift")
    StreamPipeline([("learn", "sgd")], mising="mean")  # error: call-arg
    pipeline.partail_fit(X, y)  # error: attr-defined
    n_blocks: int = StreamingSplit(5, gap=3).get_n_splits()
    StreamingSplit(5, gpa=3)  # error: call-arg

    # Names
    methods: list[str] = catalog.names("rows")
    catalog.nmaes()  # error: attr-defined
    streamsift.Screner  # error: attr-defined
    version: str = streamsift.__version__
    try:
        selector.fit(X, y)
    except InputError as error:
        problem: StreamsiftError = error
