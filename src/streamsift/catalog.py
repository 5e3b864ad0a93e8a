"""The table of methods: a name, the class behind it and the arguments the name stands for.

This table is the only list of methods; the command line, the tests and the reader of saved files all use it. It is
text: importing this module imports no method.

Examples
--------
>>> from streamsift import catalog
>>> catalog.names("instances")
['etana', 'f_etana']
>>> catalog.entry("ofs").summary
'Weights of a linear model that is cut to its largest weights after every mistake.'
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from streamsift.core.exceptions import ParameterError, UnknownNameError

Kind = Literal["rows", "columns", "instances"]
Targets = Literal["classes", "numbers", "both", "none"]


@dataclass(frozen=True)
class Entry:
    """One method: its class ("module:Class"), what arrives, what it does, who published it, and preset arguments.

    `note` says how a method that is a rival rather than a recommendation fares with its default settings; `targets`
    what it can select features for: classes, numbers, both, or none, where it looks at no target.
    """

    target: str
    kind: Kind
    summary: str
    paper: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    targets: Targets = "both"


_SCREENER = "streamsift.rows.screener:Screener"
_CARVALHO = (
    "Carvalho and Cohen (2006), Single-Pass Online Learning: Performance, Voting Schemes and Online Feature Selection"
)
_DING = "Ding and Peng (2005), Minimum Redundancy Feature Selection from Microarray Gene Expression Data"
_HAUG = "Haug et al. (2020), Leveraging Model Inherent Variable Importance for Stable Online Feature Selection"
_HUANG = "Huang et al. (2015), Unsupervised Feature Selection on Data Streams"
_LIYANAGE = "Warahena Liyanage et al. (2020), On-the-Fly Joint Feature Selection and Classification"
_UNGAR = "Ungar et al. (2005), Streaming Feature Selection using Information-investing"
_WANG_HOI = "Wang et al. (2013), Online Feature Selection and Its Applications"
_WU = "Wu et al. (2013), Online Feature Selection with Streaming Features"
_YU = "Yu et al. (2014), Towards Scalable and Accurate Online Feature Selection for Big Data"
_ZHOU_A3M = "Zhou et al. (2019), Online Streaming Feature Selection using Adapted Neighborhood Rough Set"
_ZHOU_DENSITY = "Zhou et al. (2019), OFS-Density: A Novel Online Streaming Feature Selection Method"
_BARDDAL = "Barddal et al. (2019), Boosting Decision Stumps for Dynamic Feature Selection on Data Streams"
_SUN = "Sun et al. (2018), A Novel Framework for Online Supervised Learning with Feature Selection"
_JOINT = "streamsift.rows.joint:Joint"
_WANG_BARBU = "Wang and Barbu (2021), Online Feature Screening for Data Streams with Concept Drift"


def _rival(accuracy: str, n_random: int, n_fisher: int) -> str:
    """The note of a method that other methods, or even random features, often beat (docs/methods/defaults.md)."""
    return (
        f"Here for comparison: on 34 real data sets its ten features reach a mean accuracy of {accuracy} %, random "
        f"features 63.7 %, those of screen:fisher 74.2 %; random features are better on {n_random} sets, those of "
        f"screen:fisher on {n_fisher}."
    )


_TABLE: dict[str, Entry] = {
    "screen:t_score": Entry(
        _SCREENER,
        "rows",
        "Difference of class means over its standard error; several classes: the largest one against the rest.",
        _WANG_BARBU,
        {"criterion": "t_score"},
        targets="classes",
    ),
    "screen:fisher": Entry(
        _SCREENER,
        "rows",
        "Variance between the classes over variance within them.",
        _WANG_BARBU,
        {"criterion": "fisher"},
        targets="classes",
    ),
    "screen:mutual_info": Entry(
        _SCREENER,
        "rows",
        "Mutual information of the feature, cut into bins of equal count, and the class, or a number cut likewise.",
        _WANG_BARBU,
        {"criterion": "mutual_info"},
    ),
    "screen:chi2": Entry(
        _SCREENER,
        "rows",
        "Chi-squared statistic of the feature, cut into bins of equal count, and the class, or a number cut likewise.",
        _WANG_BARBU,
        {"criterion": "chi2"},
    ),
    "screen:gini": Entry(
        _SCREENER,
        "rows",
        "Gini impurity of the class, or of a number cut into bins, removed by the best single cut of the feature.",
        _WANG_BARBU,
        {"criterion": "gini"},
    ),
    "screen:correlation": Entry(
        _SCREENER,
        "rows",
        "Absolute correlation with the target, which may be a number; with classes the correlation ratio.",
        "Pearson (1896), Mathematical Contributions to the Theory of Evolution III",
        {"criterion": "correlation"},
    ),
    "fires": Entry(
        "streamsift.rows.fires.fires:FIRES",
        "rows",
        "Importance minus uncertainty of the weights of a probit model.",
        _HAUG,
        {"model": "glm"},
    ),
    "fires:ann": Entry(
        "streamsift.rows.fires.fires:FIRES",
        "rows",
        "Importance minus uncertainty of the weights of a neural network.",
        _HAUG,
        {"model": "ann"},
        _rival("68.6", 7, 16),
    ),
    "fires:sdt": Entry(
        "streamsift.rows.fires.fires:FIRES",
        "rows",
        "Importance minus uncertainty of the weights of a soft decision tree.",
        _HAUG,
        {"model": "sdt"},
    ),
    "ofs": Entry(
        "streamsift.rows.ofs:OFS",
        "rows",
        "Weights of a linear model that is cut to its largest weights after every mistake.",
        _WANG_HOI,
        note=_rival("68.6", 6, 19),
    ),
    "efs": Entry(
        "streamsift.rows.efs:EFS",
        "rows",
        "Difference of the two weight vectors of a modified balanced winnow.",
        _CARVALHO,
        note=_rival("70.0", 11, 20),
        targets="classes",
    ),
    "fsds": Entry(
        "streamsift.rows.fsds:FSDS",
        "rows",
        "Weights on the leading directions of a matrix sketch; uses no labels.",
        _HUANG,
        note=_rival("66.4", 11, 21),
        targets="none",
    ),
    "abfs": Entry(
        "streamsift.rows.abfs:ABFS",
        "rows",
        "Boosted decision stumps with drift detectors; chooses the number of features itself.",
        _BARDDAL,
    ),
    "joint:forward": Entry(
        _JOINT,
        "rows",
        "Adds again and again the feature that adds most to least squares on those before it.",
        _SUN,
        {"rule": "forward"},
    ),
    "joint:mrmr": Entry(
        _JOINT,
        "rows",
        "Adds again and again the feature that is most relevant for its correlation with those before it.",
        _DING,
        {"rule": "mrmr"},
    ),
    "joint:ols": Entry(
        _JOINT,
        "rows",
        "Largest standardised coefficients of least squares on all features.",
        _SUN,
        {"rule": "ols"},
    ),
    "joint:lasso": Entry(
        _JOINT,
        "rows",
        "Features that enter the lasso first as its penalty goes down.",
        _SUN,
        {"rule": "lasso"},
    ),
    "joint:elastic_net": Entry(
        _JOINT,
        "rows",
        "Features that enter the elastic net first as its penalty goes down.",
        _SUN,
        {"rule": "elastic_net"},
    ),
    "joint:mcp": Entry(
        _JOINT,
        "rows",
        "Features that enter first under the minimax concave penalty.",
        _SUN,
        {"rule": "mcp"},
    ),
    "joint:fsa": Entry(
        _JOINT,
        "rows",
        "Least squares by gradient steps, after each of which the smallest coefficients are dropped.",
        _SUN,
        {"rule": "fsa"},
    ),
    "investing": Entry(
        "streamsift.columns.investing:Investing",
        "columns",
        "Bids bits for each column and earns more by accepting good ones.",
        _UNGAR,
        {"criterion": "iic"},
    ),
    "investing:alpha": Entry(
        "streamsift.columns.investing:Investing",
        "columns",
        "Bids a significance level for each column and earns more by accepting good ones.",
        _UNGAR,
        {"criterion": "alpha"},
    ),
    "investing:lord": Entry(
        "streamsift.columns.investing:Investing",
        "columns",
        "Accepts by p-values and keeps the false discovery rate; levels grow with each acceptance (LORD++).",
        "Ramdas et al. (2017), Online control of the false discovery rate with decaying memory",
        {"criterion": "lord"},
    ),
    "investing:saffron": Entry(
        "streamsift.columns.investing:Investing",
        "columns",
        "Keeps the false discovery rate and spends only on p-values above 1/2 (SAFFRON).",
        "Ramdas et al. (2018), SAFFRON: an adaptive algorithm for online control of the false discovery rate",
        {"criterion": "saffron"},
    ),
    "investing:addis": Entry(
        "streamsift.columns.investing:Investing",
        "columns",
        "Keeps the false discovery rate and ignores p-values above 1/2 (ADDIS).",
        "Tian, Ramdas (2019), ADDIS: an adaptive discarding algorithm for online FDR control",
        {"criterion": "addis"},
    ),
    "penalised:aic": Entry(
        "streamsift.columns.penalised:Penalised",
        "columns",
        "Accepts a column that gains more likelihood than a penalty of 2.",
        _UNGAR,
        {"criterion": "aic"},
    ),
    "penalised:bic": Entry(
        "streamsift.columns.penalised:Penalised",
        "columns",
        "Accepts a column that gains more likelihood than the logarithm of the rows.",
        _UNGAR,
        {"criterion": "bic"},
    ),
    "penalised:ric": Entry(
        "streamsift.columns.penalised:Penalised",
        "columns",
        "Accepts a column that gains more likelihood than twice the logarithm of the columns.",
        _UNGAR,
        {"criterion": "ric"},
    ),
    "stepwise": Entry(
        "streamsift.columns.stepwise:Stepwise",
        "columns",
        "Adds the best of all columns again and again; the batch rival of the streaming methods.",
        _UNGAR,
    ),
    "osfs": Entry(
        "streamsift.columns.osfs:OSFS",
        "columns",
        "Keeps a Markov blanket of the class by tests of conditional independence.",
        _WU,
    ),
    "fast_osfs": Entry(
        "streamsift.columns.fast_osfs:FastOSFS",
        "columns",
        "Keeps a Markov blanket, testing members only against the newest.",
        _WU,
    ),
    "saola": Entry(
        "streamsift.columns.saola:SAOLA",
        "columns",
        "Keeps columns that no other column both outdoes and resembles, in pairwise tests.",
        _YU,
    ),
    "ofs_density": Entry(
        "streamsift.columns.ofs_density:OFSDensity",
        "columns",
        "Keeps columns by the purity of neighbourhoods that adapt to density.",
        _ZHOU_DENSITY,
        targets="classes",
    ),
    "ofs_a3m": Entry(
        "streamsift.columns.ofs_a3m:OFSA3M",
        "columns",
        "Keeps columns by the purity of neighbourhoods that end at the widest gap.",
        _ZHOU_A3M,
        targets="classes",
    ),
    "etana": Entry(
        "streamsift.instances.etana:ETANA",
        "instances",
        "Buys the values of each instance one at a time, by dynamic programming.",
        _LIYANAGE,
        targets="classes",
    ),
    "f_etana": Entry(
        "streamsift.instances.f_etana:FETANA",
        "instances",
        "Buys the values of each instance one at a time, by learnt linear thresholds.",
        _LIYANAGE,
        targets="classes",
    ),
}


# Classes that are no methods, but can be saved with a method inside.
_COMPOSED = {"streamsift.interop.stream_pipeline:StreamPipeline", "streamsift.runs.late_labels:LateLabels"}


def names(kind: Kind | None = None) -> list[str]:
    """The names of all methods, or of those for one kind of stream, in the order of the table.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.names("rows")[:2]
    ['screen:t_score', 'screen:fisher']
    """
    return [name for name, entry in _TABLE.items() if kind is None or entry.kind == kind]


def entry(name: str) -> Entry:
    """The table's entry for a name.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.entry("screen:chi2").kind
    'rows'
    >>> catalog.entry("screen:chi")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.UnknownNameError: There is no method 'screen:chi'. Did you mean 'screen:chi2'?
    """
    if name not in _TABLE:
        raise UnknownNameError("method", name, _TABLE)
    return _TABLE[name]


def make(name: str, **arguments: Any) -> Any:
    """Build a method by name; `arguments` are those of its class, except the ones the name itself stands for.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.make("screen:gini", n_features_to_select=3)
    Screener(criterion='gini', n_features_to_select=3)
    """
    preset = entry(name).arguments
    known = parameters(name)
    for argument, value in preset.items():
        if argument in arguments:
            raise ParameterError(
                f"The name {name!r} stands for {argument}={value!r}: leave {argument} out, or choose another name."
            )
    for argument in arguments:
        if argument not in known:
            raise UnknownNameError(f"parameter of {name}", argument, known)
    return class_at(entry(name).target)(**preset, **arguments)


def name_of(target: str, settings: Mapping[str, Any]) -> str | None:
    """The name that stands for a class ("module:Class") with these settings; None where there is none.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.name_of("streamsift.rows.screener:Screener", {"criterion": "gini", "n_bins": 7})
    'screen:gini'
    """
    for name, listed in _TABLE.items():
        if listed.target == target and all(settings.get(key) == value for key, value in listed.arguments.items()):
            return name
    return None


def parameters(name: str) -> list[str]:
    """The parameters of a method, except the ones its name stands for.

    Examples
    --------
    >>> from streamsift import catalog
    >>> "criterion" in catalog.parameters("screen:gini"), "n_bins" in catalog.parameters("screen:gini")
    (False, True)
    """
    preset = entry(name).arguments
    signature = inspect.signature(class_at(entry(name).target))
    return [parameter for parameter in signature.parameters if parameter not in preset]


def class_at(target: str) -> type[Any]:
    """The class at "module:Class"; only what the table lists is imported, and what is composed of it.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.class_at("streamsift.rows.screener:Screener").__name__
    'Screener'
    """
    targets = {listed.target for listed in _TABLE.values()} | _COMPOSED
    if target not in targets:
        raise UnknownNameError("class in the catalog", target, sorted(targets))
    module, _, name = target.partition(":")
    method: type[Any] = getattr(import_module(module), name)
    return method
