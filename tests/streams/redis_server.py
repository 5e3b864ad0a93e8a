"""A Redis server of our own for tests: on a free port, in a folder of its own, ended by its process id."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = shutil.which("redis-server")


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """A server that is up; gives its port."""
    import redis

    assert PROGRAM is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    server = subprocess.Popen([PROGRAM, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port) as client:
            for _ in range(500):
                try:
                    client.ping()
                    break
                except redis.exceptions.ConnectionError:
                    time.sleep(0.02)
        yield port
    finally:
        server.kill()
        server.wait()
