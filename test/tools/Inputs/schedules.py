"""schedules.py < MODULE: writes a file of schedules with the ways that the kernels of a module name, for the target that it
describes."""

import json
import re
import sys

text = sys.stdin.read()
field = {name: re.search(rf'cpu = #kernel.target<.*?{name} = "([^"]*)"', text).group(1)
         for name in ("triple", "processor", "features")}
kernels = {}
for named in re.findall(r"kernel.schedule = \{([^}]*)\}", text):
    kernels[re.search(r'hash = "(\w+)"', named).group(1)] = re.search(r'way = "([\w:]+)"', named).group(1)
json.dump({"version": 1, "targets": [{**field, "kernels": kernels}]}, sys.stdout, indent=1)
