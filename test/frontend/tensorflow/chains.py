"""chains.py COUNT: compiles chains of COUNT nodes with a small stack; prints how each ends.

Each chain is listed in the order of its edges, and in the opposite one.
"""

import os
import resource
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import graphdef

PLACEHOLDER = "x Placeholder | dtype=f32 shape=[2]"

# First lines, the operation of the chain with its attributes, what reads its end.
CHAINS = {
    "values": (["v Neg x"], "Neg", "", ["y Neg {end}"]),
    "calls": (["v Neg x"], "IdentityN", "", ["y Neg {end}"]),
    "controls": (["v NoOp"], "control", "", ["y Neg x ^{end}"]),
    "handles": (
        ["v VarHandleOp | dtype=f32 shape=[2]"],
        "Identity",
        "T=resource",
        ["r ReadVariableOp {end}", "y AddV2 r x"],
    ),
    "references": (
        ["v VariableV2 | dtype=f32 shape=[2]"],
        "RefIdentity",
        "",
        ["y AddV2 {end} x"],
    ),
    # Handles that may be dead have values.
    "switched-handles": (
        [
            "yes Const | dtype=bool value=bool[]{{1}}",
            "h VarHandleOp | dtype=f32 shape=[2]",
            "v Switch h yes | T=resource",
        ],
        "Identity:1",
        "T=resource",
        ["r ReadVariableOp {end}", "n Neg x", "y Merge r n"],
    ),
    # Sizes that may be dead are known, and so are their tokens.
    "sizes": (
        [
            "yes Const | dtype=bool value=bool[]{{1}}",
            "s Switch x yes",
            "v Shape s:1",
        ],
        "Neg",
        "",
        ["z Const ^{end} | dtype=f32 value=f32[]{{1}}", "y Merge z z"],
    ),
    "flows": (
        [
            "size Const | dtype=i32 value=i32[]{{1}}",
            "a TensorArrayV3 size | dtype=f32 element_shape=[2]",
            "zero Const | dtype=i32 value=i32[]{{0}}",
            "v TensorArrayWriteV3 a zero x a:1",
        ],
        "Identity",
        "",
        ["y TensorArrayReadV3 a zero {end}"],
    ),
    "gradients": (
        ["size Const | dtype=i32 value=i32[]{{1}}", "v TensorArrayV3 size | dtype=f32 element_shape=[2]"],
        "TensorArrayGradV3",
        "source='g'",
        ["zero Const | dtype=i32 value=i32[]{{0}}", "y TensorArrayReadV3 {end} zero v:1"],
    ),
    "stacks": (
        ["size Const | dtype=i32 value=i32[]{{1}}", "v StackV2 size"],
        "StackPushV2",
        "",
        ["y StackPopV2 {end}"],
    ),
}


def array_lines(count, is_reversed):
    """TensorArrays whose elements have the type of those of the one before; all of them come first."""
    arrays = [f"a{i} TensorArrayV3 size | dtype=f32" for i in range(count)]
    uses = []
    for i in range(count):
        uses.append(f"w{i} TensorArrayWriteV3 a{i} zero {f'r{i - 1}' if i else 'x'} a{i}:1")
        uses.append(f"r{i} TensorArrayReadV3 a{i} zero w{i}")
    if is_reversed:
        arrays.reverse()
    constants = ["size Const | dtype=i32 value=i32[]{1}", "zero Const | dtype=i32 value=i32[]{0}"]
    return [PLACEHOLDER] + constants + arrays + uses + [f"y Neg r{count - 1}"]


def lines(kind, count, is_reversed):
    if kind == "arrays":
        return array_lines(count, is_reversed)
    first, op, attributes, last = CHAINS[kind]
    op, _, output = op.partition(":")
    chain, before = [], "v" + (":" + output if output else "")
    for i in range(count):
        inputs = {"control": f"^{before}", "TensorArrayGradV3": f"{before} v:1", "StackPushV2": f"v {before if i else 'x'}"}
        chain.append(f"c{i} {'NoOp' if op == 'control' else op} {inputs.get(op, before)} | {attributes}")
        before = f"c{i}"
    if is_reversed:
        chain.reverse()
    end = "v" if kind == "stacks" else before
    return [PLACEHOLDER] + [line.format(end=end) for line in first] + chain + [line.format(end=end) for line in last]


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))


def main():
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.pb")
        for kind in ["arrays", *CHAINS]:
            for is_reversed in [False, True]:
                with open(path, "wb") as out:
                    for line in lines(kind, count, is_reversed):
                        out.write(graphdef.block(1, graphdef.node(line)))
                command = ["tfc", "compile", path, "--entry", "e: x:0 -> y:0", "--stop-after=frontend"]
                done = subprocess.run(
                    command, capture_output=True, timeout=120, preexec_fn=limit_stack, text=True
                )
                print(kind, "reversed:" if is_reversed else "in order:", done.returncode)
                print(done.stderr.replace(path, "graph.pb"), end="")


if __name__ == "__main__":
    main()
