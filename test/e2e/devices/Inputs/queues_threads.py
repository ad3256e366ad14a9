"""queues_threads.py LIBRARY: puts, consumes and drains elements of queues-control.graph on three threads."""

import os
import sys
import threading

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Failed, Model

PUTS, EACH = 600, 3


def put(model, results):
    """Every fifth element has an index that is out of range, so the call must fail and put nothing."""
    x, put, refused = np.ones(4, np.float32), 0, 0
    for i in range(PUTS):
        try:
            model.maybe(x=x, k=np.int32(9 if i % 5 == 4 else 1 + i % 7), p=np.bool_(True))
            put += 1
        except Failed:
            refused += 1
    results["put"], results["refused"] = put, refused


def consume(model):
    for _ in range(PUTS * 4 // 5 // EACH):
        model.consume(n=np.int32(EACH))


def drain(model, results, is_done):
    drained = 0
    while not is_done.is_set() or model.state()[3] > 0:
        drained += int(model.drain()[0])
    results["drained"] = drained


def main():
    model = Model(sys.argv[1])
    producer, consumer, drainer = model.fork(), model.fork(), model.fork()
    results, is_done = {}, threading.Event()
    threads = [
        threading.Thread(target=put, args=(producer, results)),
        threading.Thread(target=consume, args=(consumer,)),
        threading.Thread(target=drain, args=(drainer, results, is_done)),
    ]
    for thread in threads:
        thread.start()
    threads[0].join()
    threads[1].join()
    is_done.set()
    threads[2].join()
    _, steps, work, left = model.state()
    print(
        f"{results['put']} elements put, {results['refused']} refused, "
        f"{results['drained']} drained in {steps} steps, {work + left} left"
    )


main()
