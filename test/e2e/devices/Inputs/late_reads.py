"""late_reads.py LIBRARY: updates variables while another handle waits at a second queue."""

import os
import sys
import threading

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Model

CALLS = 200


def main():
    waiting = Model(sys.argv[1])
    other = waiting.fork()
    seven, one = np.full((2, 2), 7, np.float32), np.ones((2, 2), np.float32)
    for call in range(2 * CALLS):
        is_sent = call >= CALLS
        other.restart()
        other.put_first(x=seven)
        thread = threading.Thread(target=waiting.sent if is_sent else waiting.update)
        thread.start()
        while other.left()[0] > 0:
            pass
        other.bump()
        other.put_second(x=one)
        thread.join()
        v, w = waiting["v"], waiting["w"]
        # A product of n x n ones with itself has elements 2 n: 4 + 15 + 1 and 32 + 15 + 1.
        # Those of `sent` have the update and the second element.
        expected = (2, 3) if is_sent else (20, 48)
        assert np.all(v == expected[0]) and np.all(w == expected[1]), (call, v, w)
    print(f"{2 * CALLS} calls")


main()
