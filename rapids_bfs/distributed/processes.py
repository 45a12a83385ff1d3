"""Communicator that are processes of one machine, with arrays in host memory.

Small values are exchanged in the process of rank 0, to which the others hold a connection that breaks as soon as a
process ends. Arrays are passed through shared memory: each rank has an outbox that the others map.
"""

from __future__ import annotations

import mmap
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core.formatting import size as bytes_as_text
from ..errors import TraversalError
from .communicators import TIMEOUT, AbortCallbacks, Aborted, Communicator, Meeting, no_answer

MARGIN = 5.0  # further seconds after which rank 0, which enforces the time timeout, counts as failed itself
ALIGNMENT = 64
FOLDERS = ("/dev/shm", tempfile.gettempdir())
LOST = (EOFError, OSError)  # raised by a connection whose other end has gone


class Invitation(NamedTuple):
    """The address and the key by which a rank joins the others."""

    address: Any
    key: bytes


class Hub:
    """The `Meeting` in the process of rank 0, with a thread that represents each other rank there."""

    def __init__(self, names: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.meeting = Meeting(names, timeout)
        key = secrets.token_bytes(32)
        self._listener = Listener(authkey=key)
        self.invitation = Invitation(self._listener.address, key)
        threading.Thread(target=self._admit, daemon=True).start()

    def _admit(self) -> None:
        missing = set(range(1, len(self.meeting.names)))
        with self._listener:
            while missing:
                with suppress(AuthenticationError, *LOST):
                    connection = self._listener.accept()
                    rank = connection.recv()
                    if rank is None:  # `close`
                        return
                    threading.Thread(target=self._speak_for, args=(rank, connection), daemon=True).start()
                    missing.discard(rank)

    def _speak_for(self, rank: int, connection: Connection) -> None:
        with suppress(*LOST), connection:
            while True:
                abort, value = connection.recv()
                try:
                    if abort:
                        self.meeting.fail(value)
                    else:
                        connection.send((self.meeting.meet(rank, value), None))
                except Aborted as error:
                    connection.send((None, str(error)))
        self.meeting.fail(f"the process of {self.meeting.names[rank]} has ended")

    def meet(self, value: Any) -> list[Any]:
        return self.meeting.meet(0, value)

    def abort(self, reason: str) -> None:
        self.meeting.fail(reason)

    def close(self) -> None:
        self.abort("the ranks have parted")
        with suppress(*LOST), Client(self.invitation.address, authkey=self.invitation.key) as connection:
            connection.send(None)


class Line:
    """A rank's connection to rank 0."""

    def __init__(self, invitation: Invitation, rank: int, names: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.first = names[0]
        self.timeout = timeout
        self.failure: str | None = None
        self._connection = Client(invitation.address, authkey=invitation.key)
        self._connection.send(rank)

    def meet(self, value: Any) -> list[Any]:
        values: list[Any] = []
        try:
            if self.failure is None:
                self._connection.send((False, value))
                if self._connection.poll(self.timeout + MARGIN):
                    values, self.failure = self._connection.recv()
                else:
                    self.failure = no_answer([self.first], self.timeout)
        except LOST:
            self.failure = f"the process of {self.first} has ended"
        if self.failure is not None:
            raise Aborted(self.failure)
        return values

    def abort(self, reason: str) -> None:
        with suppress(*LOST):
            self._connection.send((True, reason))
        self.failure = self.failure or reason

    def close(self) -> None:
        self._connection.close()


class ProcessCommunicator(Communicator):
    """A rank that is a process. It calls collectives from one thread only; any thread of rank 0 may call `abort`."""

    def __init__(self, rank: int, names: Sequence[str], way: Hub | Line, timeout: float = TIMEOUT) -> None:
        self.rank = rank
        self.names, self.size = names, len(names)
        self.timeout, self.stops = timeout, AbortCallbacks()
        self._way = way
        self._outbox = Outbox()
        self._inboxes = [Outbox() for _ in names]

    @classmethod
    def first(cls, names: Sequence[str], timeout: float = TIMEOUT) -> tuple[ProcessCommunicator, Invitation]:
        """Rank 0, and the invitation by which the others `join` it."""
        hub = Hub(names, timeout)
        return cls(0, names, hub, timeout), hub.invitation

    @classmethod
    def join(
        cls, invitation: Invitation, rank: int, names: Sequence[str], timeout: float = TIMEOUT
    ) -> ProcessCommunicator:
        """One of the other ranks."""
        return cls(rank, names, Line(invitation, rank, names, timeout), timeout)

    def allgather_object(self, value: Any) -> list[Any]:
        return self._way.meet(value)

    def abort(self, reason: str) -> None:
        self._way.abort(reason)

    def close(self) -> None:
        """Leave the group: ranks that wait for this one fail."""
        self._way.close()

    def allgather(self, whole: Any) -> None:
        slices = whole.reshape(self.size, -1)

        def take(rank: int, theirs: list[np.ndarray]) -> None:
            slices[rank] = theirs[0]

        self._show([slices[self.rank]], take)

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        def take(rank: int, theirs: list[np.ndarray]) -> None:
            into[rank][...] = theirs[self.rank]

        into[self.rank][...] = pieces[self.rank]
        self._show(pieces, take)

    def _show(self, mine: Sequence[np.ndarray], take: Callable[[int, list[np.ndarray]], None]) -> None:
        """Publish these arrays, and call ``take`` with the arrays of each other rank."""
        shown = self.allgather_object(self._outbox.put(mine))
        for rank, letter in enumerate(shown):
            if rank != self.rank:
                if self._inboxes[rank].path != letter.path:
                    self._inboxes[rank] = Outbox.at(letter.path)
                take(rank, self._inboxes[rank].read(letter))
        self.barrier()  # all have read before any outbox is written again
        self._outbox.unlink()


class Letter(NamedTuple):
    """Arrays in an outbox: its file, and the type, first byte and shape of each array."""

    path: str
    places: list[tuple[str, int, tuple[int, ...]]]


class Outbox:
    """Memory shared between processes, which grows as needed; its file has a name only until it is mapped."""

    def __init__(self) -> None:
        self.path = ""
        self._memory: np.ndarray = np.empty(0, np.uint8)

    @classmethod
    def at(cls, path: str) -> Outbox:
        """The outbox of another rank."""
        box = cls()
        with open(path, "r+b") as file:
            box._map(path, file.fileno())
        return box

    def put(self, arrays: Sequence[np.ndarray]) -> Letter:
        """Copy arrays here."""
        places, needed = [], 0
        for array in arrays:
            places.append((array.dtype.str, needed, array.shape))
            needed += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        if needed > len(self._memory):
            self._grow(needed)
        letter = Letter(self.path, places)
        for place, array in zip(self.read(letter), arrays, strict=True):
            place[:] = array
        return letter

    def read(self, letter: Letter) -> list[np.ndarray]:
        """The arrays of a letter, not copied."""
        return [np.ndarray(shape, dtype, self._memory, first) for dtype, first, shape in letter.places]

    def unlink(self) -> None:
        """Remove the file's name; mappings stay valid."""
        with suppress(OSError):
            os.unlink(self.path)

    def _grow(self, needed: int) -> None:
        """Map a new file of this size. Its memory is reserved first: writing to missing memory kills a process."""
        self._memory = self._memory[:0]
        for folder in filter(os.path.isdir, FOLDERS):
            handle, path = tempfile.mkstemp(prefix="rapids_bfs-", dir=folder)
            try:
                os.posix_fallocate(handle, 0, needed)
                return self._map(path, handle)
            except OSError:
                Path(path).unlink()
            finally:
                os.close(handle)
        raise TraversalError(f"there is no room for {bytes_as_text(needed)} in {' or '.join(FOLDERS)}: make some")

    def _map(self, path: str, handle: int) -> None:
        self._memory = np.frombuffer(mmap.mmap(handle, 0), np.uint8)
        self.path = path
