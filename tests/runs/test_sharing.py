"""Processes that share a topic, with a group and a broker of our own: what they do when partitions come and go."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from streamsift import ReaderError, Screener, load
from streamsift.core.exceptions import InputError, MergeError, ParameterError
from streamsift.runs import sharing
from streamsift.runs.checkpoint import Every
from streamsift.runs.claims import Claim, load_shared, newest
from streamsift.runs.run import Run
from streamsift.runs.sharing import Sharing
from streamsift.streams.kafka_group import GroupPartition
from streamsift.streams.message_stream import MessageStream
from streamsift.streams.messages import from_json

N_ROWS, SIZE = 47, 10


def row(number, partition):
    rng = np.random.default_rng((number, partition))
    y = int(rng.integers(0, 2))
    fields = {"a": float(rng.normal() + y), "b": float(rng.normal()), "c": "xyz"[rng.integers(0, 3)], "y": f"class {y}"}
    return dict(reversed(fields.items())) if partition == 1 else fields


TOPIC = {number: [row(k, number) for k in range(N_ROWS)] for number in (0, 1)}


class Group:
    """Hands partitions out as the test wants: at each poll the next step of `plan` is taken, in the end Ctrl-C."""

    def __init__(self, plan, topic=TOPIC):
        self._plan, self._topic = list(plan), topic
        self.held, self.left = None, False
        self.name = "a topic"
        self.kafka = SimpleNamespace(KafkaException=RuntimeError)

    def with_calls(self, given, taken):
        self._given, self._taken = given, taken
        return self

    def first(self, number, kept, seconds):
        return 0 if kept is None else kept

    def join(self):
        pass

    def read_on(self):
        pass

    at_end = True

    def give(self, *numbers):
        self.held = {number: GroupPartition(self, number) for number in numbers}
        for partition in self.held.values():
            self._given(partition)

    def take(self, *, lost=False):
        held, self.held = self.held, None
        for number in held:
            self._taken(number, lost)

    def send(self, most):
        """Up to so many messages of each partition."""
        for number, partition in self.held.items():
            for offset in range(partition.next, min(partition.next + most, len(self._topic[number]))):
                value = json.dumps(self._topic[number][offset]).encode()
                partition.put(SimpleNamespace(offset=lambda at=offset: at, value=lambda value=value: value), from_json)

    def poll(self, most):
        if not self._plan:
            raise KeyboardInterrupt
        self._plan.pop(0)(self)
        return 1

    def leave(self):
        self.left = True


def give(*numbers):
    return lambda group: group.give(*numbers)


def send(most):
    return lambda group: group.send(most)


def take(group):
    group.take()


def lose(group):
    group.take(lost=True)


def nothing(group):
    pass


def share(folder, *plan, topic=TOPIC, every="1rows", make=lambda: Screener("fisher", missing="skip"), **others):
    """A process that lives as long as its plan; what it was."""
    group = Group(plan, topic)
    run = Run("screen:fisher", data="rows", target="y", parameters=make().get_params(), settings={"batch_size": SIZE})

    def open_rows(partition, agree):
        return MessageStream(partition, "y", agree=agree)

    process = Sharing(group.with_calls, open_rows, make, run, folder, Every.parse(every), **others)
    assert process.follow() is ("stop_after_idle" in others)
    assert group.left
    return process


def known(folder):
    return {number: load(path).n_rows_seen_ for number, path in newest(folder).items()}


def one_pass(counts):
    """What a single selector learns from the first rows of the partitions."""
    names = ["a", "b", "c"]
    rows = [TOPIC[number][k] for number, count in counts.items() for k in range(count)]
    table = [{name: fields[name] for name in names} for fields in rows]
    return Screener("fisher", missing="skip").partial_fit(table, [fields["y"] for fields in rows])


def assert_one_pass(folder, counts):
    shared = load_shared(folder)
    alone = one_pass(counts)
    assert shared.rows == counts
    assert shared.selector.n_rows_seen_ == alone.n_rows_seen_
    assert shared.selector.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(shared.selector.scores_, alone.scores_, rtol=1e-9)


def assert_same_states(one, other):
    """To the last bit."""
    first, second = newest(one), newest(other)
    assert first.keys() == second.keys()
    for number in first:
        then, now = (load(files[number]).state_arrays() for files in (first, second))
        assert {name: array.tolist() for name, array in then.items()} == {
            name: array.tolist() for name, array in now.items()
        }


def test_full_batches_are_learnt_and_the_rest_is_read_again(tmp_path):
    share(tmp_path, give(0, 1), send(25))
    assert known(tmp_path) == {0: 20, 1: 20}
    share(tmp_path, give(0), send(7), send(13))
    assert known(tmp_path) == {0: 40, 1: 20}
    assert_one_pass(tmp_path, {0: 40, 1: 20})


def test_a_partition_that_changes_hands_has_the_same_state_as_one_that_does_not(tmp_path):
    for name in ("moved", "calm"):
        (tmp_path / name).mkdir()
    moved, calm = tmp_path / "moved", tmp_path / "calm"
    share(calm, give(0, 1), *[send(10)] * 5)
    share(moved, give(0, 1), send(13), take, give(1), send(4), send(8))
    share(moved, give(0), send(33))
    share(moved, give(1, 0), send(40))
    assert known(moved) == known(calm) == {0: 40, 1: 40}
    assert_same_states(moved, calm)


def test_it_ends_when_nothing_has_come_for_long_enough(tmp_path, monkeypatch):
    seconds = [0.0]

    def quiet(group):
        seconds[0] += 1.0
        return 0

    monkeypatch.setattr(Group, "poll", lambda group, most: group._plan.pop(0)(group) or 0)
    plan = (give(0, 1), send(47), *[quiet] * 5)
    share(tmp_path, *plan, stop_after_idle=3.0, clock=lambda: seconds[0])
    assert_one_pass(tmp_path, {0: 47, 1: 47})


def test_a_partition_that_was_lost_is_not_written(tmp_path):
    share(tmp_path, give(0), send(20), lose, every="1h")
    assert known(tmp_path) == {}
    share(tmp_path, give(0), send(20), take, every="1h")
    assert known(tmp_path) == {0: 20}


def test_a_late_process_whose_partition_another_one_has(tmp_path):
    def another(group):
        share(tmp_path, give(0), send(40))

    seen = []

    def look(group):
        seen.append((known(tmp_path)[0], group.held[0].next))

    share(tmp_path, give(0), send(10), another, send(10), look, nothing, look, send(7), look)
    # It has learnt 20 rows when it finds that somebody else has claimed the partition and learnt 40: it goes on there.
    assert seen == [(40, 20), (40, 40), (40, 47)]
    assert_one_pass(tmp_path, {0: 40})


def test_a_late_process_that_the_group_has_given_up(tmp_path):
    def another(group):
        share(tmp_path, give(0), send(30))

    before = []
    share(tmp_path, give(0), send(10), another, send(10), lose, lambda group: before.append(newest(tmp_path)))
    assert before == [newest(tmp_path)]
    assert_one_pass(tmp_path, {0: 40})


def test_ctrl_c_within_a_batch_leaves_the_checkpoint_before_it(tmp_path):
    class Interrupted(Screener):
        def partial_fit(self, *arguments):
            super().partial_fit(*arguments)
            if self.n_rows_seen_ == 30:
                raise KeyboardInterrupt
            return self

    share(tmp_path, give(0), send(20), send(10), make=lambda: Interrupted("fisher", missing="skip"), every="1h")
    assert known(tmp_path) == {}
    share(tmp_path, give(0), send(20), every="1h")
    assert known(tmp_path) == {0: 20}


def test_a_claim_that_is_lost_before_it_was_read_is_made_again(tmp_path, monkeypatch):
    share(tmp_path, give(0), send(20))
    made = []

    class Slow(Claim):
        def __init__(self, folder, partition):
            super().__init__(folder, partition)
            if not made:
                made.append(Claim(folder, partition))

    monkeypatch.setattr(sharing, "Claim", Slow)
    share(tmp_path, give(0), send(10))
    assert known(tmp_path) == {0: 30}


def test_what_is_no_checkpoint_of_a_partition(tmp_path):
    from streamsift import save

    save(one_pass({0: 10}), tmp_path / "partition-0.claim-1.ckpt")
    with pytest.raises(Exception, match="is damaged: it does not say where its rows end"):
        share(tmp_path, give(0))


def test_rows_that_cannot_be_shared_are_refused_at_once(tmp_path):
    nobody = {0: [{"a": 1.0, "b": 2.0}] * N_ROWS}
    with pytest.raises(ReaderError, match="None of the first rows has a label"):
        share(tmp_path, give(0), send(10), topic=nobody)
    late = {0: [*TOPIC[0][:10], *({**fields, "late": 1.0} for fields in TOPIC[0])]}
    with pytest.raises((InputError, ParameterError), match="late"):
        share(tmp_path, give(0), send(10), send(10), topic=late)
    assert known(tmp_path) == {0: 10}
    with pytest.raises(ParameterError, match="was written by a run with missing='skip', and now it is 'error'"):
        share(tmp_path, give(0), make=lambda: Screener("fisher"))


def test_a_state_that_does_not_merge_is_refused_with_the_first_batch(tmp_path, monkeypatch):
    def refuse(selector, other):
        raise MergeError("Screener cannot be merged where categories have columns of their own.")

    monkeypatch.setattr(Screener, "merge", refuse)
    with pytest.raises(MergeError, match="columns of their own"):
        share(tmp_path, give(0), send(10))
    assert known(tmp_path) == {}
