"""The table of docs/numerics.md: the largest error of each function, in units in the last place."""

import re


def read_accuracy(path):
    """{operation: {"f32": units, "f64": units}}"""
    accuracy = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = re.match(r"\| ((?:`\w+` ?)+) \| ([\d.]+) \| ([\d.]+) \|", line)
            if row:
                for name in re.findall(r"`(\w+)`", row.group(1)):
                    accuracy[name] = {"f32": float(row.group(2)), "f64": float(row.group(3))}
    return accuracy
