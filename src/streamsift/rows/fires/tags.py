"""What FIRES promises, by its model and its settings."""

from __future__ import annotations

from functools import cache

from streamsift.core.tags import StreamTags


@cache
def tags_for(linear: bool, scaled: bool, one_hot: bool, numbers: bool) -> StreamTags:
    """The promises of a model that is linear or not; `numbers` says that it is offered for numbers, too.

    >>> tags_for(True, True, True, True).sparse, tags_for(False, True, True, True).sparse
    (True, False)
    """
    return StreamTags(
        sparse=linear,
        late_features=True,
        multi_class="one-vs-rest" if linear else "softmax",
        ignores_constants=scaled,
        categorical="one_hot" if one_hot else "codes",
        weights=True,
        regression=numbers,
        why_no_numbers="" if numbers else "its model tells classes apart",
    )
