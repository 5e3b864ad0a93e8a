"""Redis Streams, against a real server: entries, positions, poison, and what was trimmed too early."""

from __future__ import annotations

import json

import pytest
from tests.streams.redis_server import PROGRAM, running

from streamsift import MissingExtraError, ReaderError, SavedStateError
from streamsift.core.exceptions import ReadingNotice
from streamsift.streams import Unbounded, open_stream

redis = pytest.importorskip("redis", reason="the package redis is not installed")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server is installed")


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with running(tmp_path_factory.mktemp("redis")) as number:
        yield number


@pytest.fixture
def client(port):
    with redis.Redis(port=port) as found:
        found.flushall()
        yield found


def row(k):
    return {"a": k, "colour": "red" if k % 3 else "blue", "y": k % 2}


def add(client, first, last):
    for k in range(first, last):
        client.xadd("clicks", {"row": json.dumps(row(k))})


def follow(port, query="?field=row", **options):
    address = f"redis://127.0.0.1:{port}/clicks{query}"
    return open_stream(Unbounded(address, **({"stop_after_idle": 0.0} | options)), target="y")


def values(batches):
    return [batch.X[:, 0].tolist() for batch in batches]


def test_json_in_a_field(client, port):
    add(client, 0, 10)
    stream = follow(port)
    batches = list(stream.batches(4))
    assert values(batches) == [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0]]
    assert batches[0].y.tolist() == [0, 1, 0, 1]
    assert stream.categories == {"colour": ("blue", "red")}


def test_the_fields_themselves(client, port):
    for k in range(6):
        client.xadd("clicks", row(k))
    batch = next(follow(port, "").batches(6))
    assert batch.X[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert batch.kinds.names == {1: ("blue", "red")}
    assert batch.y.tolist() == [0, 1, 0, 1, 0, 1]


def test_waits_for_entries_and_for_the_stream(client, port):
    stream = follow(port, stop_after_idle=None)
    n_pauses = []

    def meanwhile(seconds):
        add(client, 2 * len(n_pauses), 2 * len(n_pauses) + 2)
        n_pauses.append(seconds)

    stream._sleep = meanwhile
    batches = stream.batches(4)
    with pytest.warns(ReadingNotice, match="There is no Redis stream 'clicks' at .* yet: it is waited for"):
        first = next(batches)
    assert values([first, next(batches)]) == [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
    assert len(n_pauses) == 4
    batches.close()


def first_half(client, port):
    add(client, 0, 10)
    stream = follow(port)
    batches = stream.batches(5)
    next(batches)
    batches.close()
    return json.loads(json.dumps(stream.position()))


def rest(port, position):
    stream = follow(port)
    stream.seek(position)
    return list(stream.batches(5))


def test_goes_on_behind_the_id_and_writes_nothing(client, port):
    position = first_half(client, port)
    before = client.info("stats")["total_commands_processed"], client.xinfo_stream("clicks")
    add(client, 10, 12)
    assert values(rest(port, position)) == [[5.0, 6.0, 7.0, 8.0, 9.0], [10.0, 11.0]]
    assert before[1]["groups"] == client.xinfo_stream("clicks")["groups"] == 0
    assert client.xlen("clicks") == 12


def test_entries_that_were_read_may_be_trimmed(client, port):
    position = first_half(client, port)
    client.xtrim("clicks", maxlen=5, approximate=False)
    assert values(rest(port, position)) == [[5.0, 6.0, 7.0, 8.0, 9.0]]


def test_entries_that_were_not_read_must_not_be_trimmed(client, port):
    position = first_half(client, port)
    client.xtrim("clicks", maxlen=3, approximate=False)
    with pytest.raises(ReaderError, match="Rows are lost: 2 entries behind"):
        rest(port, position)


def test_a_stream_that_is_gone_or_another(client, port):
    position = first_half(client, port)
    client.delete("clicks")
    with pytest.raises(ReaderError, match="There is no more Redis stream"):
        rest(port, position)
    client.xadd("clicks", {"row": "{}"}, id="5-1")
    with pytest.raises(ReaderError, match="This is another stream than the"):
        rest(port, position)


def test_poison_entries(client, port, tmp_path):
    add(client, 0, 2)
    client.xadd("clicks", {"other": b"\xff"})
    client.xadd("clicks", {"row": "no JSON"})
    add(client, 2, 4)
    with pytest.raises(
        ReaderError, match=r"Entry \d+-\d+ of the Redis stream 'clicks' at .* has no field 'row', only 'other'"
    ):
        list(follow(port).batches(2 + 1))
    with pytest.warns(ReadingNotice, match="2 messages"):
        found = list(follow(port, dead_letters=tmp_path / "bad").batches(4))
    assert values(found) == [[0.0, 1.0, 2.0, 3.0]]
    client.flushall()
    client.xadd("clicks", {"a": b"\xff", "y": "1"})
    with pytest.raises(ReaderError, match="it is not UTF-8 text"):
        list(follow(port, "").batches(1))
    client.flushall()
    add(client, 0, 1)
    with pytest.raises(ReaderError, match=r"its only field holds JSON: add \?field=row to the address"):
        list(follow(port, "").batches(1))


@pytest.mark.parametrize("place", [{}, {"id": "5"}, {"id": 5}, {"id": "5-1", "added": -1}])
def test_a_damaged_place(client, port, place):
    position = first_half(client, port) | {"place": place}
    with pytest.raises(SavedStateError, match="no proper"):
        rest(port, position)


def test_no_server_and_another_type(client, port):
    client.set("clicks", "a text")
    with pytest.raises(ReaderError, match=r"Cannot read the Redis stream .*: WRONGTYPE"):
        list(follow(port).batches(1))
    nowhere = open_stream("redis://127.0.0.1:1/clicks", target="y")
    with pytest.raises(ReaderError, match="start the server and resume"):
        next(nowhere.batches(1))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'streamsift\[redis\]'"):
        open_stream("redis://127.0.0.1/clicks", target="y")
