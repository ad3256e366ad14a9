"""The calls that the tasks of a simulated job make, and the times of their steps."""

import statistics

from cluster import Cluster


def repeat(cluster, task, entries, count, begins=None):
    """Calls entries one after the other, `count` times; notes in `begins` when each round began, and the end."""
    for _ in range(count):
        if begins is not None:
            begins.append(cluster.simulation.now)
        for entry in entries:
            yield from cluster.call(task, entry)
    if begins is not None:
        begins.append(cluster.simulation.now)


def rotated(name, ps, first):
    """The entries of each parameter server, from one of them on. Workers that begin with different ones do not all send
    data to the same one at the same time."""
    return [f"{name}_{(first + k) % ps}" for k in range(ps)]


def synchronous(model, entries, ps, workers, step, steps, prepare=None, drops_late=False, rotates=False):
    """Seconds of the steps of the scheme in graphs.py, from one release to the next, without the first: each worker
    calls `begin`, the entries `step` and `push_k`, each parameter server `update_k`, and the chief `release` and
    `wait_k`. With `rotates`, each worker begins to push at another parameter server. `prepare(cluster)` may change
    tasks. With `drops_late`, `update_k` takes the updates of fewer workers than there are, and the others are backup
    workers, whose late updates and old tokens are dropped."""
    cluster = Cluster(model, [("ps", ps), ("chief", 1), ("worker", workers)])
    cluster.drops_late = drops_late
    begins, start, leader = [], cluster.simulation.start, cluster.jobs["chief"][0]
    if prepare:
        prepare(cluster)

    def lead():
        for number in range(1, steps + 1):
            begins.append(cluster.simulation.now)
            yield from cluster.call(leader, entries["release"], number)
            for k in range(ps):
                yield from cluster.call(leader, entries[f"wait_{k}"])
        begins.append(cluster.simulation.now)

    def work(task):
        while True:
            [token] = yield from cluster.call(task, entries["begin"])
            if token < len(begins):
                continue
            for name in [*step, *rotated("push", ps, task.number if rotates else 0)]:
                yield from cluster.call(task, entries[name], token)

    start(lead())
    for k, task in enumerate(cluster.jobs["ps"]):
        start(repeat(cluster, task, [entries[f"update_{k}"]], steps))
    for task in cluster.jobs["worker"]:
        start(work(task))
    cluster.simulation.run()
    return durations(begins[1:]), cluster


def asynchronous(model, entries, ps, workers, step, steps, prepare=None):
    """Seconds of the steps of all workers, each of which calls the entries `step` over and over; `fetch` stands for
    `fetch_k` of each parameter server, and so on. The first third of the steps of a worker does not count."""
    cluster = Cluster(model, [("ps", ps), ("worker", workers)])
    if prepare:
        prepare(cluster)
    notes = [[] for _ in range(workers)]
    for task, begins in zip(cluster.jobs["worker"], notes):
        names = [name for part in step for name in ([part] if part in entries else rotated(part, ps, task.number))]
        cluster.simulation.start(repeat(cluster, task, [entries[name] for name in names], steps, begins))
    cluster.simulation.run()
    return [seconds for begins in notes for seconds in durations(begins[(steps + 2) // 3:])], cluster


def alone(model, entry, jobs, job, number, calls=3):
    """Seconds of a call by a task of a job in which nobody else calls."""
    cluster = Cluster(model, jobs)
    begins = []
    cluster.simulation.start(repeat(cluster, cluster.jobs[job][number], [entry], calls, begins))
    cluster.simulation.run()
    return statistics.median(durations(begins))


def solve(low, high, seconds, target):
    """The value between two others for which `seconds`, which grows with it, is the target."""
    for _ in range(50):
        middle = (low * high) ** 0.5
        if seconds(middle) < target:
            low = middle
        else:
            high = middle
    return low


def durations(begins):
    return [after - before for before, after in zip(begins, begins[1:])]
