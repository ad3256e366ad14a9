"""The parts of the simulation of a cluster: discrete events, links, processors, locks and queues.

A process is a generator that yields a number of seconds, or an event to wait for. Nothing here is random, and equal
times are served in the order in which they were asked for, so that a run can be repeated.
"""

import heapq
from collections import deque


class Event:
    """Happens once, with a value for those that wait for it."""

    __slots__ = ("simulation", "waiting", "has_happened", "value")

    def __init__(self, simulation):
        self.simulation, self.waiting, self.has_happened, self.value = simulation, [], False, None

    def happen(self, value=None):
        self.has_happened, self.value = True, value
        for callback in self.waiting:
            self.simulation.after(0.0, callback, value)
        self.waiting = None

    def then(self, callback):
        if self.has_happened:
            self.simulation.after(0.0, callback, self.value)
        else:
            self.waiting.append(callback)


class Simulation:
    def __init__(self):
        self.now, self._queue, self._number = 0.0, [], 0

    def after(self, seconds, callback, *arguments):
        self._number += 1
        heapq.heappush(self._queue, (self.now + seconds, self._number, callback, arguments))

    def event(self):
        return Event(self)

    def start(self, generator):
        """Runs a process; returns the event of its end."""
        end = Event(self)

        def advance(value=None):
            try:
                awaited = generator.send(value)
            except StopIteration as stop:
                end.happen(stop.value)
                return
            if isinstance(awaited, Event):
                awaited.then(advance)
            else:
                self.after(awaited, advance)

        self.after(0.0, advance)
        return end

    def run(self):
        """Until nothing is left to do."""
        queue = self._queue
        while queue:
            self.now, _, callback, arguments = heapq.heappop(queue)
            callback(*arguments)


class Link:
    """One direction of a link. Messages share its bandwidth: it serves them by turns, a piece of each at a time."""

    def __init__(self, simulation, bandwidth):
        self.simulation, self.bandwidth = simulation, bandwidth
        self.waiting, self.is_busy, self.bytes, self.busy_seconds = deque(), False, 0, 0.0

    def carry(self, size, piece, passed):
        """Calls passed(bytes) for each piece."""
        self.waiting.append((size, piece, passed))
        if not self.is_busy:
            self._serve()

    def _serve(self):
        if not self.waiting:
            self.is_busy = False
            return
        self.is_busy = True
        size, piece, passed = self.waiting.popleft()
        part = min(size, piece)
        seconds = part / self.bandwidth
        self.bytes += part
        self.busy_seconds += seconds
        self.simulation.after(seconds, self._done, part, size - part, piece, passed)

    def _done(self, part, left, piece, passed):
        if left > 0:
            self.waiting.append((left, piece, passed))
        passed(part)
        self._serve()


class Network:
    """Hosts with a link to the network in each direction. With `shared`, all messages share one link instead, as
    processes of one machine share its memory."""

    def __init__(self, simulation, hosts, latency, bandwidth, piece=65536, shared=False):
        self.simulation, self.latency, self.piece = simulation, latency, piece
        one = Link(simulation, bandwidth)
        self.up = [one if shared else Link(simulation, bandwidth) for _ in range(hosts)]
        self.down = None if shared else [Link(simulation, bandwidth) for _ in range(hosts)]

    def send(self, source, target, size, arrived):
        """Calls arrived() when all bytes are there. A long message has at most 64 pieces."""
        left = [size]
        piece = max(self.piece, size / 64)

        def at_end(part):
            left[0] -= part
            if left[0] <= 0.5:
                arrived()

        def in_between(part):
            if self.down:
                self.simulation.after(self.latency, self.down[target].carry, part, part, at_end)
            else:
                self.simulation.after(self.latency, at_end, part)

        self.up[source].carry(size, piece, in_between)


class Processors:
    """Processors of a host, which serve work in order."""

    def __init__(self, simulation, count):
        self.simulation, self.free, self.waiting, self.busy_seconds = simulation, count, deque(), 0.0

    def work(self, seconds, finished):
        if self.free == 0:
            self.waiting.append((seconds, finished))
            return
        self.free -= 1
        self._run(seconds, finished)

    def _run(self, seconds, finished):
        self.busy_seconds += seconds
        self.simulation.after(seconds, self._done, finished)

    def _done(self, finished):
        if self.waiting:
            self._run(*self.waiting.popleft())
        else:
            self.free += 1
        finished()


class Serial:
    """A thread: one piece of work after the other, on the processors of its host."""

    def __init__(self, processors):
        self.processors, self.waiting, self.is_busy = processors, deque(), False

    def work(self, seconds, finished):
        self.waiting.append((seconds, finished))
        if not self.is_busy:
            self._next()

    def _next(self):
        self.is_busy = bool(self.waiting)
        if not self.waiting:
            return
        seconds, finished = self.waiting.popleft()

        def done():
            finished()
            self._next()

        self.processors.work(seconds, done)


class SharedLock:
    """Readers together, or one writer; in the order of their arrival."""

    def __init__(self, simulation):
        self.simulation, self.readers, self.writes, self.waiting = simulation, 0, False, deque()

    def hold(self, exclusively):
        held = Event(self.simulation)
        self.waiting.append((exclusively, held))
        self._admit()
        return held

    def release(self, exclusively):
        if exclusively:
            self.writes = False
        else:
            self.readers -= 1
        self._admit()

    def _admit(self):
        while self.waiting and not self.writes:
            exclusively, held = self.waiting[0]
            if exclusively and self.readers:
                return
            self.waiting.popleft()
            if exclusively:
                self.writes = True
            else:
                self.readers += 1
            held.happen()


class Queue:
    """Elements of a queue, without a capacity. `take` waits for `count` of them; takers are served in order. With
    `drops_late`, elements are numbers of steps, and those of steps that have been taken are dropped."""

    def __init__(self, simulation, drops_late=False):
        self.simulation, self.elements, self.waiting = simulation, deque(), deque()
        self.drops_late, self.step = drops_late, 1

    def put(self, elements):
        self.elements.extend(elements)
        self._serve()

    def take(self, count):
        taken = Event(self.simulation)
        self.waiting.append((count, taken))
        self._serve()
        return taken

    def _serve(self):
        while self.waiting:
            if self.drops_late:
                self.elements = deque(step for step in self.elements if step >= self.step)
            if len(self.elements) < self.waiting[0][0]:
                return
            count, taken = self.waiting.popleft()
            self.step += 1
            taken.happen([self.elements.popleft() for _ in range(count)])
