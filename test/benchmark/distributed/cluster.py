"""Tasks of a cluster that call compiled entries alone, as the runtime lets them.

A call is one of docs/clusters.md: the caller asks the other tasks of the entry to take part, each holds its variables
in the order of the tasks and passes the turn on, the last one lets all begin, and each runs the steps of its partition.
Messages between tasks, their number and their sizes are those of the runtime.
"""

from dataclasses import dataclass

from simulation import Event, Network, Processors, Queue, Serial, SharedLock, Simulation

HEADER = 72  # bytes in front of the data of a message
# The thread that speaks MPI looks for messages all the time for so long after the last one, and then after pauses:
# pairs of seconds since the last message and of a pause, as in runtime/mpi/MpiTransport.cpp.
PAUSES = [(20e-6, 0.0), (2e-3, 10e-6), (200e-3, 100e-6), (float("inf"), 1e-3)]


@dataclass
class Model:
    """The parameters of a cluster; seconds, bytes and multiply-adds."""

    latency: float  # from one host to another
    bandwidth: float  # of a host's link, in each direction; of the memory, if processes share a machine
    message: float  # processor time of a message on each side
    wake: float  # until a thread runs that waits for a message, or to send one
    multiply_adds: float  # of a processor, per second
    memory: float  # bytes that a processor reads or writes, per second
    processors: int  # of a host; of the machine, if processes share it
    shares_machine: bool = False


class Task:
    def __init__(self, simulation, model, number, name, processors):
        self.number, self.name, self.processors = number, name, processors
        self.messenger = Serial(processors)
        self.computes = processors
        self.lock = SharedLock(simulation)
        self.multiply_adds, self.memory = model.multiply_adds, model.memory
        self.last_message = 0.0
        self.scale_of = None  # returns a factor of the time of the work of a call that this task makes

    def notice(self, now):
        """Seconds until the thread that speaks MPI looks for a message that is here now: half of a pause."""
        since = now - self.last_message
        self.last_message = now
        return next(pause for end, pause in PAUSES if since < end) / 2

    def seconds(self, multiply_adds, size):
        return multiply_adds / self.multiply_adds + size / self.memory


class Cluster:
    """`jobs` are pairs of a name and a number of tasks, in the order of the ranks."""

    def __init__(self, model, jobs):
        self.model, self.simulation = model, Simulation()
        count = sum(number for _, number in jobs)
        self.network = Network(self.simulation, count, model.latency, model.bandwidth, shared=model.shares_machine)
        shared = Processors(self.simulation, model.processors) if model.shares_machine else None
        self.tasks, self.jobs, self.queues = [], {}, {}
        self.messages = self.bytes = 0
        self.drops_late = False  # updates of steps that have ended; see Queue
        for job, number in jobs:
            self.jobs[job] = []
            for k in range(number):
                own = shared or Processors(self.simulation, model.processors)
                task = Task(self.simulation, model, len(self.tasks), f"/job:{job}/task:{k}", own)
                self.tasks.append(task)
                self.jobs[job].append(task)

    def queue(self, name):
        if name not in self.queues:
            is_of_updates = name.startswith("grads") or name.endswith("updates")
            self.queues[name] = Queue(self.simulation, self.drops_late and is_of_updates)
        return self.queues[name]

    def task_of(self, device, caller):
        job, task = device.split("/")[1:3]
        return caller if job == "job:local" else self.jobs[job[4:]][int(task[5:])]

    def post(self, source, target, size, arrived):
        """A message: a thread of the source hands it to the one that speaks MPI, and so on at the target."""
        if source is target:
            return arrived()
        simulation, model = self.simulation, self.model
        self.messages += 1
        self.bytes += size

        def receive():
            target.messenger.work(model.message, lambda: simulation.after(model.wake, arrived))

        def notice():
            simulation.after(target.notice(simulation.now), receive)

        def send():
            source.last_message = simulation.now
            self.network.send(source.number, target.number, size + HEADER, notice)

        if source.messenger.is_busy:
            source.messenger.work(model.message, send)
        else:
            simulation.after(model.wake, source.messenger.work, model.message, send)

    def call(self, caller, entry, tag=None):
        """A process that ends when the call has returned, with the elements that it took from queues. `tag` is the
        element that it puts into queues."""
        return _Call(self, caller, entry, tag).run()


class _Call:
    def __init__(self, cluster, caller, entry, tag):
        self.tag, self.taken = tag, []
        self.scale = caller.scale_of(entry) if caller.scale_of else 1.0
        self.cluster, self.caller, self.entry, self.simulation = cluster, caller, entry, cluster.simulation
        self.owners = [cluster.task_of(part.device, caller) for part in entry.partitions]
        self.tasks = sorted(set(self.owners), key=lambda task: task.number)
        event = self.simulation.event
        self.begun, self.turns, self.going = ({task: event() for task in self.tasks} for _ in range(3))
        self.data = {slot: event() for slot in entry.slots}
        self.released = {slot: event() for slot in entry.slots}
        self.commits = any(step[0] == "commit" for part in entry.partitions for step in part.steps)
        self.arrived, self.completed = {}, {}
        self.left, self.all_ended = len(self.tasks) - 1, event()

    def run(self):
        self.begun[self.caller].happen()
        self.turns[self.tasks[0]].happen()
        for task in self.tasks:
            if task is not self.caller:
                self.cluster.post(self.caller, task, 0, self.begun[task].happen)
        ends = {task: self.simulation.start(self._take_part(task)) for task in self.tasks}
        yield ends[self.caller]
        if not self.commits and self.left:
            yield self.all_ended
        return self.taken

    def _access(self, task):
        return max(part.access for part, owner in zip(self.entry.partitions, self.owners) if owner is task)

    def _take_part(self, task):
        yield self.begun[task]
        yield self.turns[task]
        access = self._access(task)
        if access:
            yield task.lock.hold(access == 2)
        at = self.tasks.index(task)
        if at + 1 < len(self.tasks):
            following = self.tasks[at + 1]
            self.cluster.post(task, following, 0, self.turns[following].happen)
        else:
            for other in self.tasks:
                self.cluster.post(task, other, 0, self.going[other].happen)
        yield self.going[task]
        ends = [self.simulation.start(self._run(part, task, access))
                for part, owner in zip(self.entry.partitions, self.owners) if owner is task]
        for end in ends:
            yield end
        if access:
            task.lock.release(access == 2)
        if not self.commits and task is not self.caller:
            self.cluster.post(task, self.caller, 0, self._note_end)

    def _note_end(self):
        self.left -= 1
        if not self.left:
            self.all_ended.happen()

    def _run(self, part, task, access):
        unreleased, rounds = [], 0
        for step in part.steps:
            kind = step[0]
            if kind == "work":
                done = Event(self.simulation)
                seconds = task.seconds(step[1], step[2]) * (self.scale if task is self.caller else 1.0)
                task.computes.work(seconds, done.happen)
                yield done
                self._release(unreleased, task)
            elif kind == "send":
                target = self.owners[self.entry.slots[step[1]][1]]
                self.cluster.post(task, target, step[2], self.data[step[1]].happen)
            elif kind == "receive":
                yield self.data[step[1]]
                if not step[3]:
                    unreleased.append(step[1])
            elif kind == "await_release":
                # Memory from which data went to another process may change when they have left.
                sender, receiver = (self.owners[k] for k in self.entry.slots[step[1]])
                yield self.released[step[1]] if sender is receiver else self.data[step[1]]
            elif kind == "commit":
                self._release(unreleased, task)
                yield self._arrive(task, rounds)
                rounds += 1
            elif kind == "put":
                self._put(step)
            elif kind == "take":
                yield from self._take(step, task, access)
        self._release(unreleased, task)

    def _put(self, step):
        """Tokens go to a queue of each worker."""
        if step[1] != "tokens":
            return self.cluster.queue(step[1]).put([self.tag] * step[2])
        for worker in self.cluster.jobs["worker"]:
            self.cluster.queue(f"tokens {worker.number}").put([self.tag])

    def _take(self, step, task, access):
        """A call that waits lets others use the variables of the task."""
        name = f"tokens {self.caller.number}" if step[1] == "tokens" else step[1]
        taken = self.cluster.queue(name).take(step[2])
        if taken.has_happened or not access:
            self.taken += yield taken
            return
        task.lock.release(access == 2)
        self.taken += yield taken
        yield task.lock.hold(access == 2)

    def _release(self, slots, task):
        for slot in slots:
            sender = self.owners[self.entry.slots[slot][0]]
            self.cluster.post(task, sender, 0, self.released[slot].happen)
        slots.clear()

    def _arrive(self, task, number):
        """A commit: each partition tells all other tasks that it is there, and waits for all."""
        for other in self.tasks:
            key = (other, number)
            self.completed.setdefault(key, self.simulation.event())
            self.arrived.setdefault(key, len(self.owners))
            self.cluster.post(task, other, 0, lambda key=key: self._note_arrival(key))
        return self.completed[task, number]

    def _note_arrival(self, key):
        self.arrived[key] -= 1
        if not self.arrived[key]:
            self.completed[key].happen()
