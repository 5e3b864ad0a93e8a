"""alpha_investing of scikit-feature: its rule, put into our account, makes its choices."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from streamsift.columns.investing import Investing, InvestingAccount
from streamsift.columns.linear_fit import LinearFit
from streamsift.columns.walk import Terms, decide_block
from streamsift.core.column_data import ColumnBlock, NumberedNames, Target


@dataclass(frozen=True)
class OtherAccount:
    """The same bids and payments; accepted when exp(-n (1 - RSS after / RSS before) / 2) is below the bid."""

    ours: InvestingAccount

    learns_from_gains: ClassVar[bool] = False

    @property
    def wealth(self) -> float:
        return self.ours.wealth

    def terms(self, gains: Any, df: int, fit: Any) -> Terms:
        n = fit.n_observations
        terms = self.ours.terms(gains, df, fit)
        assert terms.wealth is not None
        bids = -np.diff(terms.wealth)
        return Terms(-n * np.log1p(2 * np.log(bids) / n), terms.wealth)

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> OtherAccount:
        return replace(self, ours=self.ours.after(terms, n_rejected, accepted))


@pytest.mark.parametrize("name", ["wdbc", "cont"])
@pytest.mark.parametrize("wealth", [0.05, 0.5])
def test_the_other_rule_makes_the_other_choices(shared: Path, name: str, wealth: float) -> None:
    golden = json.loads((shared / "golden" / "alpha_investing_skfeature" / "README.json").read_text("utf-8"))
    expected = golden["outputs_0based"][f"{name}_w0{wealth}_dw{wealth}"]
    with np.load(shared / "golden" / "lofs" / "inputs.npz") as inputs:
        X, y = inputs[name][:, :-1].astype(float), inputs[name][:, -1].astype(float)
    fit = LinearFit.begin(Target(y, None), np.empty(0), intercept=True)
    account = OtherAccount(InvestingAccount(wealth, 0, wealth, Investing("alpha", wealth=wealth, payoff=wealth)))
    places = range(X.shape[1])
    answers, _, _ = decide_block(fit, account, ColumnBlock(X, NumberedNames(places), places))
    assert np.flatnonzero(answers.accepted).tolist() == expected
    ours = Investing("alpha", wealth=wealth, payoff=wealth).fit(X, y)
    assert ours.get_support().sum() >= len(expected)  # our p-values are smaller
