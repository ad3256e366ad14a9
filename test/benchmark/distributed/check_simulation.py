#!/usr/bin/env python3
"""Checks the simulation on cases with a closed form, on a small job, and against itself.

  test/benchmark/distributed/check_simulation.py TFC
"""

import random
import statistics
import sys
from dataclasses import replace

import experiments
import graphs
import partitions
from cluster import HEADER, PAUSES, Cluster, Model
from simulation import Network, Queue, SharedLock, Simulation

MODEL = Model(latency=1e-3, bandwidth=1e6, message=0.0, wake=0.0, multiply_adds=1e9, memory=1e9, processors=4)


def expect(name, value, expected, tolerance=1e-9):
    if abs(value - expected) > tolerance * abs(expected) + 1e-15:
        sys.exit(f"{name}: expected {expected}, but got {value}")
    print(f"{name}: ok")


def arrivals(*messages, shared=False):
    """Seconds after which messages (source, target, bytes) have arrived that are sent at once; and the network."""
    simulation = Simulation()
    network = Network(simulation, 3, 1e-3, 1e6, piece=1000, shared=shared)
    times = [0.0] * len(messages)

    def note(k):
        times[k] = simulation.now

    for k, (source, target, size) in enumerate(messages):
        network.send(source, target, size, lambda k=k: note(k))
    simulation.run()
    return times, network


def check_network():
    # The last piece passes both links, the others only delay it on the first one.
    expect("a message of one piece", arrivals((0, 1, 500))[0][0], 0.5e-3 + 1e-3 + 0.5e-3)
    expect("a message of 8 pieces", arrivals((0, 1, 8000))[0][0], 8e-3 + 1e-3 + 1e-3)
    times, network = arrivals((0, 1, 8000), (0, 2, 8000))
    expect("two messages share a link", times[1], 16e-3 + 1e-3 + 1e-3)
    expect("and the first is hardly earlier", times[0], 15e-3 + 1e-3 + 1e-3)
    expect("two senders share the receiver's link", arrivals((0, 2, 8000), (1, 2, 8000))[0][1], 16e-3 + 1e-3 + 1e-3)
    expect("what leaves arrives", sum(link.bytes for link in network.up), sum(link.bytes for link in network.down))
    expect("bytes of a link", network.up[0].bytes, 16000)
    expect("a shared link", arrivals((0, 1, 8000), (1, 2, 8000), shared=True)[0][1], 16e-3 + 1e-3)


def check_lock():
    """Readers hold it together, writers alone, in the order of their arrival."""
    simulation = Simulation()
    lock, order = SharedLock(simulation), []

    def use(name, exclusively):
        yield lock.hold(exclusively)
        order.append((name, round(simulation.now)))
        yield 1.0
        lock.release(exclusively)

    for name, exclusively in ("a", False), ("b", False), ("c", True), ("d", False):
        simulation.start(use(name, exclusively))
    simulation.run()
    expect("a lock", float(order == [("a", 0), ("b", 0), ("c", 1), ("d", 2)]), 1.0)


def check_queue():
    queue = Queue(Simulation(), drops_late=True)
    queue.put([1, 1])
    expect("updates of a step", float(queue.take(2).value == [1, 1]), 1.0)
    queue.put([1, 2])
    expect("a late update is dropped", len(queue.elements) - queue.take(2).has_happened, 2.0)
    queue.put([2])
    expect("then the next step is complete", len(queue.elements), 0.0)


READS = """
graph reads edition 1
@device("/job:ps/task:0") var w: f32[1000, 250] = zeros()
@device("/job:local")
entry read(x: f32[250, 2000]) -> (y: f32[2000]) { return sum(matmul(w, x), axis: 0) }
"""


def check_call(tfc):
    """A call without contention: its messages, one after the other, and its work."""
    entry = partitions.compile_partitions(tfc, READS, "ps=1,worker=1")["read"]
    own, other = entry.partitions
    received = [step for step in own.steps if step[0] == "receive"]
    expect("bytes of a message", sum(step[2] for step in received), 1000 * 250 * 4)
    work = sum(step[1] for step in own.steps if step[0] == "work")
    expect("multiply-adds", work, 1000 * 250 * 2000)
    cluster = Cluster(MODEL, [("ps", 1), ("worker", 1)])
    seconds = experiments.alone(MODEL, entry, [("ps", 1), ("worker", 1)], "worker", 0)
    header = 2 * HEADER / MODEL.bandwidth + MODEL.latency
    size = 1000 * 250 * 4 + HEADER
    piece = max(cluster.network.piece, size / 64)
    # The request and the turn leave together; then the last task lets the call begin, and the data leave. The thread of
    # MPI looks after pauses, and what the memory has to read is with the work.
    messages = 2 * header + size / MODEL.bandwidth + piece / MODEL.bandwidth + MODEL.latency
    bytes_of_work = sum(step[2] for part in (own, other) for step in part.steps if step[0] == "work")
    compute = work / MODEL.multiply_adds + bytes_of_work / MODEL.memory
    pauses = [pause / 2 for _, pause in PAUSES]
    if not messages + compute <= seconds <= messages + compute + 4 * max(pauses) + 4 * header:
        sys.exit(f"a call: expected {messages + compute} s and pauses, but got {seconds}")
    print("a call is its messages and its work: ok")


def check_job(tfc):
    """Synchronous steps of a small job."""
    ps, workers, rows = 2, 3, 2000
    text = graphs.null(ps, workers, rows)
    entries = partitions.compile_partitions(tfc, text, f"ps={ps},chief=1,worker={workers}", {None: 16})
    times, cluster = experiments.synchronous(MODEL, entries, ps, workers, ["dense"], 4)
    again, _ = experiments.synchronous(MODEL, entries, ps, workers, ["dense"], 4)
    expect("a run is repeated", float(times == again), 1.0)
    least = workers * rows * 256 / MODEL.bandwidth
    expect("data of all workers leave a parameter server", float(statistics.median(times) >= least), 1.0)
    expect("and nothing else takes long", statistics.median(times), least, 0.25)
    up, down = (sum(link.bytes for link in links) for links in (cluster.network.up, cluster.network.down))
    expect("all that leaves arrives", up, down)
    expect("and is what tasks posted", up, cluster.bytes + HEADER * cluster.messages)
    fast = replace(MODEL, latency=1e-5)
    scalar, _ = experiments.synchronous(fast, entries, ps, workers, ["scalar"], 4)
    expect("steps are faster on a faster network", float(statistics.median(scalar) < statistics.median(times)), 1.0)


def check_seeds(tfc):
    """Backup workers: the same seed has the same steps, and a slow worker is not waited for."""
    ps, needed, workers = 1, 2, 3
    cluster = f"ps={ps},chief=1,worker={workers}"
    entries = partitions.compile_partitions(tfc, graphs.null(ps, needed), cluster, {None: 32})

    def times_of(seed, drops_late):
        def prepare(cluster):
            for task in cluster.jobs["worker"]:
                draws = random.Random(f"{seed}.{task.number}")
                slow = 1e9 if task is cluster.jobs["worker"][-1] else 1e5
                task.scale_of = lambda entry, d=draws, s=slow: s * (1 + d.random()) if entry.name == "scalar" else 1.0

        count = workers if drops_late else needed
        return experiments.synchronous(replace(MODEL, latency=1e-5), entries, ps, count, ["scalar"], 5, prepare,
                                       drops_late)[0]

    expect("equal seeds", float(times_of(1, True) == times_of(1, True)), 1.0)
    expect("other seeds", float(times_of(1, True) != times_of(2, True)), 1.0)
    expect("a slow backup worker does not matter", float(max(times_of(1, True)) < 1.0), 1.0)


def main():
    tfc = sys.argv[1]
    check_network()
    check_lock()
    check_queue()
    check_call(tfc)
    check_job(tfc)
    check_seeds(tfc)


main()
