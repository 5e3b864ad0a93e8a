"""The engine on a Dask cluster: parts are learnt where they lie, states are merged up a tree on the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from streamsift import __version__
from streamsift.core.exceptions import MissingExtraError, ParameterError, StreamsiftError
from streamsift.engines.work import Job, by_fan, learn, learn_rows, merge


class DaskEngine:
    """Tasks on a cluster: an address, a Client, or None for one that is started on this machine."""

    def __init__(self, client: Any, jobs: int) -> None:
        try:
            import distributed
        except ImportError as error:
            raise MissingExtraError("engine='dask'", "dask.distributed", "dask") from error
        self._distributed, self._given, self.jobs = distributed, client, jobs

    def fold(self, job: Job, parts: Sequence[Any], progress: Callable[[float], None]) -> bytes:
        """The merged state of all parts."""
        with self._client() as client:
            futures = [client.submit(learn, job, part, pure=False) for part in parts]
            return self._merged(client, futures, progress)

    def fold_table(self, job: Job, table: Any, progress: Callable[[float], None]) -> bytes:
        """The merged state of all partitions of a Dask DataFrame, or of all blocks of rows of a pair of Dask Arrays."""
        with self._client() as client:
            blocks = [client.compute(block) for block in _blocks(table)]
            names = [f"Partition {number} of the table" for number in range(len(blocks))]
            futures = [
                client.submit(learn_rows, job, block, name, pure=False)
                for block, name in zip(blocks, names, strict=True)
            ]
            return self._merged(client, futures, progress)

    def call(
        self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], progress: Callable[[float], None]
    ) -> list[Any]:
        """What a function of a module makes of each task, in their order."""
        with self._client() as client:
            futures = [client.submit(function, shared, task, pure=False) for task in tasks]
            self._watch(futures, progress)
            return [self._result(future) for future in futures]

    def _merged(self, client: Any, futures: list[Any], progress: Callable[[float], None]) -> bytes:
        self._watch(futures, progress)
        while len(futures) > 1:
            for future in futures:  # an error is told once, by the part it came from
                if future.status == "error":
                    self._result(future)
            futures = [client.submit(merge, group, pure=False) for group in by_fan(futures)]
        state: bytes = self._result(futures[0])
        return state

    def _watch(self, futures: list[Any], progress: Callable[[float], None]) -> None:
        for done, future in enumerate(self._distributed.as_completed(futures), 1):
            if future.status == "error":
                self._result(future)
            progress(done / len(futures))

    def _result(self, future: Any) -> Any:
        try:
            return future.result()
        except StreamsiftError:
            raise
        except self._distributed.KilledWorker as error:
            raise StreamsiftError(f"A task was given up after its workers had died several times: {error}") from error

    @contextmanager
    def _client(self) -> Iterator[Any]:
        distributed = self._distributed
        if isinstance(self._given, distributed.Client):
            _refuse_other_versions(self._given)
            yield self._given
            return
        if self._given is None:
            with (
                distributed.LocalCluster(
                    n_workers=self.jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                yield client
            return
        try:
            client = distributed.Client(self._given, timeout="10s")
        except (OSError, ValueError) as error:
            raise ParameterError(f"There is no Dask scheduler at {self._given!r}: {error}.") from error
        with client:
            _refuse_other_versions(client)
            yield client


def _blocks(table: Any) -> list[Any]:
    """One delayed frame, or one delayed pair of arrays, for each partition."""
    if isinstance(table, tuple):
        from dask.delayed import delayed

        X, y = table
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if X.chunks[0] != y.chunks[0]:
            y = y.rechunk((X.chunks[0],))
        return [delayed(tuple)([a, b]) for a, b in zip(X.to_delayed()[:, 0], y.to_delayed(), strict=True)]
    return list(table.to_delayed())


def _refuse_other_versions(client: Any) -> None:
    """Raise StreamsiftError for a worker that has no streamsift, or another one."""

    def version() -> str | None:  # sent as it stands: a worker without streamsift can run it
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("streamsift")
        except PackageNotFoundError:
            return None

    for address, found in client.run(version).items():
        if found is None:
            raise StreamsiftError(
                f"The Dask worker {address} has no streamsift: install streamsift=={__version__} there."
            )
        if found != __version__:
            raise StreamsiftError(
                f"The Dask worker {address} has streamsift {found}, and here is {__version__}: install the same there."
            )
