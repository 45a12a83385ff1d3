"""Ranks that are workers of a Dask cluster without GPUs: a comm of Dask's connects each pair.

A comm goes over what the cluster itself uses, TCP or TLS, with the cluster's certificates. The lower rank of a pair
opens it to the address on which the other worker listens anyway, where `accept` takes it over. Arrays travel as frames
of bytes. A rank's thread hands its messages to its worker's event loop, which puts what arrives into an inbox for each
peer. All ranks call the same collectives in the same order, so the next message in an inbox is always the one that the
collective waits for.
"""

from __future__ import annotations

import asyncio
import pickle
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..errors import TraversalError
from .communicators import AbortCallbacks, Aborted, Communicator, no_answer
from .launchers import one_line

JOIN = "rapids_bfs_join"  # the name under which a worker offers `accept`
OBJECT, ARRAY, ABORT = "object", "array", "abort"  # kinds of messages


class Message(NamedTuple):
    """A message between ranks: a pickled object, the bytes of an array, or the reason why the ranks are aborted."""

    kind: str
    content: Any  # bytes, or a memoryview of them
    dtype: str = ""
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, array: np.ndarray) -> Message:
        """The array is copied: its owner may write to it while the message is on its way."""
        return cls(ARRAY, array.tobytes(), array.dtype.str, array.shape)

    def array(self, into: np.ndarray | None = None) -> np.ndarray:
        """The array, written to ``into`` if that is given. Raises `ValueError` if this is not such an array."""
        into = np.empty(self.shape, self.dtype) if into is None else into
        if (self.kind, self.dtype, self.shape) != (ARRAY, into.dtype.str, into.shape):
            raise ValueError(
                f"ranks are out of step: {self.kind} {self.dtype}{self.shape} came for {into.dtype}{into.shape}"
            )
        into[...] = np.frombuffer(self.content, into.dtype).reshape(into.shape)
        return into


class Link:
    """The comm to another rank. All but `inbox`, which any thread may read, belongs to the event loop."""

    def __init__(self, comm: Any) -> None:
        comm.deserialize = comm.allow_offload = False  # frames arrive as bytes, and are written in order
        self.comm = comm
        self.sent = 0  # bytes
        self.inbox: SimpleQueue[Message] = SimpleQueue()
        self.outbox: asyncio.Queue[Message] = asyncio.Queue()
        self._writing = asyncio.ensure_future(self._write())
        self._reading: asyncio.Future[None] | None = None  # unless a handler of the worker reads

    async def _write(self) -> None:
        from distributed.protocol.serialize import Serialized

        while True:
            message = await self.outbox.get()
            with suppress(OSError):  # `read` finds out too
                self.sent += await self.comm.write(message._replace(content=Serialized({}, [message.content])))
            self.outbox.task_done()

    async def all_sent(self) -> int:
        """How many bytes have been sent, once no message is left to be written or the link is closed."""
        written = asyncio.ensure_future(self.outbox.join())
        await asyncio.wait((written, self._writing), return_when=asyncio.FIRST_COMPLETED)
        written.cancel()
        return self.sent

    async def read(self) -> None:
        """Put messages into the inbox until the comm is closed, then an `ABORT` without a reason."""
        try:
            with suppress(OSError):
                while True:
                    message = Message(*await self.comm.read())
                    self.inbox.put(message._replace(content=message.content.frames[0]))
        finally:
            self.inbox.put(Message(ABORT, b""))
            self.close()

    def close(self) -> None:
        self._writing.cancel()
        self.comm.abort()


class Endpoint:
    """Where other ranks open comms to a rank of this worker. The ranks may join several times, in ascending epochs."""

    def __init__(self, server: Any, token: str, rank: int) -> None:
        self.server, self.token, self.rank = server, token, rank
        self.loop: asyncio.AbstractEventLoop = server.loop.asyncio_loop
        self._epoch = 0
        self._arrivals: dict[tuple[int, int], asyncio.Future[Link]] = {}  # by epoch and rank
        _endpoints[token, rank] = self
        server.handlers[JOIN] = accept

    def join(self, epoch: int, addresses: Sequence[str], names: Sequence[str], timeout: float) -> DaskCommunicator:
        """Connect to all other ranks, which call this too. Raises `TraversalError` if that fails or takes longer than
        ``timeout`` seconds."""
        joining = asyncio.run_coroutine_threadsafe(self._links(epoch, addresses, names, timeout), self.loop)
        return DaskCommunicator(joining.result(2 * timeout), self.rank, names, timeout, self.loop)

    async def _links(
        self, epoch: int, addresses: Sequence[str], names: Sequence[str], timeout: float
    ) -> dict[int, Link]:
        self._epoch = epoch
        for stale in [key for key in self._arrivals if key[0] < epoch]:
            self._arrivals.pop(stale).add_done_callback(_close)
        links = {
            peer: self._arrival(epoch, peer)
            if peer < self.rank
            else asyncio.ensure_future(self._open(epoch, peer, address, timeout))
            for peer, address in enumerate(addresses)
            if peer != self.rank
        }
        await asyncio.wait(links.values(), timeout=timeout)
        try:
            for peer, link in links.items():
                if link.done() and (error := link.exception()):
                    raise TraversalError(f"no connection to {names[peer]}: {one_line(error)}") from error
            if late := [names[peer] for peer, link in links.items() if not link.done()]:
                raise Aborted(no_answer(late, timeout))
        except TraversalError:
            for link in links.values():
                link.cancel()
                link.add_done_callback(_close)
            raise
        return {peer: link.result() for peer, link in links.items()}

    def _arrival(self, epoch: int, peer: int) -> asyncio.Future[Link]:
        """The link that a lower rank opens, now or later."""
        return self._arrivals.setdefault((epoch, peer), self.loop.create_future())

    async def _open(self, epoch: int, peer: int, address: str, timeout: float) -> Link:
        from distributed.comm import connect

        comm = await connect(address, timeout=timeout, deserialize=False, **self.server.rpc.connection_args)
        await comm.write(
            {"op": JOIN, "reply": False, "token": self.token, "rank": peer, "epoch": epoch, "peer": self.rank}
        )
        link = Link(comm)
        link._reading = asyncio.ensure_future(link.read())
        return link

    def arrived(self, epoch: int, peer: int, link: Link) -> None:
        arrival = self._arrival(epoch, peer)
        if epoch < self._epoch or arrival.done():
            link.close()
        else:
            arrival.set_result(link)


_endpoints: WeakValueDictionary[tuple[str, int], Endpoint] = WeakValueDictionary()


async def accept(comm: Any, token: str, rank: int, epoch: int, peer: int) -> None:
    """A handler of a worker: the comm becomes the link from ``peer`` to the rank, until it is closed."""
    endpoint = _endpoints.get((token, rank))
    if endpoint is None:  # the rank has been freed
        comm.abort()
        return
    link = Link(comm)
    endpoint.arrived(epoch, peer, link)
    del endpoint
    await link.read()


def _close(future: asyncio.Future[Link]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().close()


class DaskCommunicator(Communicator):
    """A rank of a worker, with a link to each other rank. Arrays are NumPy's."""

    def __init__(
        self,
        links: Mapping[int, Link],
        rank: int,
        names: Sequence[str],
        timeout: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.links, self.rank, self.loop = links, rank, loop
        self.names, self.size, self.timeout = tuple(names), len(names), timeout
        self.stops = AbortCallbacks()
        self.failure: str | None = None
        weakref.finalize(self, _leave, loop, tuple(links.values())).atexit = False

    def allgather_object(self, value: Any) -> list[Any]:
        values = [value] * self.size
        message = Message(OBJECT, pickle.dumps(value))
        for peer, received in self._exchange(dict.fromkeys(self.links, message)).items():
            values[peer] = pickle.loads(received.content)
        return values

    def allgather(self, whole: Any) -> None:
        slices = whole.reshape(self.size, -1)
        message = Message.of(slices[self.rank])
        for peer, received in self._exchange(dict.fromkeys(self.links, message)).items():
            received.array(slices[peer])

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        into[self.rank][...] = pieces[self.rank]
        for peer, received in self._exchange({peer: Message.of(pieces[peer]) for peer in self.links}).items():
            received.array(into[peer])

    def alltoallv_new(self, pieces: Sequence[Any]) -> list[Any]:
        """Messages say their shapes, so that ranks need not exchange these first."""
        found = [pieces[self.rank].copy()] * self.size
        for peer, received in self._exchange({peer: Message.of(pieces[peer]) for peer in self.links}).items():
            found[peer] = received.array()
        return found

    def _exchange(self, messages: Mapping[int, Message]) -> dict[int, Message]:
        """Send a message to each other rank; return what each has sent."""
        if self.failure is not None:
            raise Aborted(self.failure)
        deadline = monotonic() + self.timeout
        self._post(messages)
        return {peer: self._received(peer, deadline) for peer in self.links}

    def _post(self, messages: Mapping[int, Message]) -> None:
        with suppress(RuntimeError):  # the event loop has ended, and with it the links
            self.loop.call_soon_threadsafe(_post, [(self.links[peer], message) for peer, message in messages.items()])

    def _received(self, peer: int, deadline: float) -> Message:
        try:
            message = self.links[peer].inbox.get(timeout=max(deadline - monotonic(), 0.0))
        except Empty:
            late = [self.names[each] for each, link in self.links.items() if each >= peer and link.inbox.empty()]
            self.abort(no_answer(late or [self.names[peer]], self.timeout))
        else:
            if message.kind != ABORT:
                return message
            reason = bytes(message.content).decode() or f"{self.names[peer]} has broken the connection"
            self.failure = self.failure or reason
        raise Aborted(self.failure)

    def bytes_sent(self) -> int:
        async def counted() -> int:
            return sum(await asyncio.gather(*(link.all_sent() for link in self.links.values())))

        counting = asyncio.run_coroutine_threadsafe(counted(), self.loop)
        try:
            return counting.result(self.timeout)
        except TimeoutError:
            counting.cancel()
            self.abort(no_answer([self.names[peer] for peer in self.links], self.timeout))
            raise Aborted(self.failure) from None

    def abort(self, reason: str) -> None:
        self.failure = self.failure or reason
        message = Message(ABORT, self.failure.encode())
        for link in self.links.values():
            link.inbox.put(message)
        self._post(dict.fromkeys(self.links, message))
        self.stops()


def _post(messages: Sequence[tuple[Link, Message]]) -> None:
    for link, message in messages:
        link.outbox.put_nowait(message)


def _leave(loop: asyncio.AbstractEventLoop, links: Sequence[Link]) -> None:
    """Close the links of a communicator that is no longer used."""
    with suppress(RuntimeError):  # the event loop has ended
        for link in links:
            loop.call_soon_threadsafe(link.close)
