"""restart.py GRAPH ENTRY: stops after each stage, and runs the entry from the module written there."""

import subprocess
import sys

graph, entry = sys.argv[1:]
for stage in ["frontend", "autodiff", "simplify", "fusion", "lowering", "schedule", "memory", "kernels"]:
    module = f"{stage}.mlir"
    subprocess.run(["tfc", "compile", graph, f"--stop-after={stage}", "-o", module], check=True)
    print("from", stage, flush=True)
    subprocess.run(["tfc", "run", module, f"--start-after={stage}", "--entry", entry], check=True)
