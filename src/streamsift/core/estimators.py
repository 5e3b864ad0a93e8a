"""The base classes of scikit-learn, as a type checker sees them.

scikit-learn has no type information: to a checker its classes are `Any`, and so is every attribute of what inherits
from them, so that a misspelt method would pass. At run time these names are scikit-learn's own classes; a type checker
reads the declarations below, which list what they give to a selector or classifier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

__all__ = ["BaseComposition", "BaseEstimator", "ClassifierMixin", "SelectorMixin", "TransformerMixin"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    class BaseEstimator:
        """Parameters by name, and the tags scikit-learn asks for."""

        n_features_in_: int
        feature_names_in_: NDArray[Any]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def get_metadata_routing(self) -> Any: ...

        def __sklearn_tags__(self) -> Any: ...

        def __sklearn_clone__(self) -> Self: ...

    class SelectorMixin:
        """What every selector can do once it can tell which features it has selected."""

        def get_support(self, indices: bool = False) -> NDArray[Any]: ...

        def transform(self, X: Any) -> Any: ...

        def inverse_transform(self, X: Any) -> Any: ...

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...

        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...

        def _get_support_mask(self) -> NDArray[np.bool_]: ...

    class ClassifierMixin:
        """The accuracy of a classifier."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class TransformerMixin:
        """What every transformer can do."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...

        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...

    class BaseComposition(BaseEstimator):
        """Parameters of named steps, as `step__parameter`."""

        def _get_params(self, attr: str, deep: bool = True) -> dict[str, Any]: ...

        def _set_params(self, attr: str, **params: Any) -> Self: ...

        def _validate_names(self, names: Any) -> None: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
