"""lit over this folder: `lit-22 test/dialects` runs a part of it against the build in build/.

Parameters: `--param roundtrip=1` runs the tests that use tfc-opt, with all that it prints parsed and
printed again, in generic and in custom form, before FileCheck reads it (`check-tfc` does both);
`--param long=1` runs tests in their long form, where they have one: they see the feature `long` and the
environment variable TFC_LONG=1; `--param timeout=SECONDS` limits a test (600, or 7200 in the long form).
"""

import ctypes
import os
import shutil
import subprocess
import sys

import lit.formats

if not hasattr(config, "tfc_build_root"):  # run on the sources, not through the build folder
    sources = os.path.dirname(os.path.abspath(__file__))
    build = os.environ.get("TFC_BUILD", os.path.join(os.path.dirname(sources), "build"))
    lit_config.load_config(config, os.path.join(build, "test", "suites", "lit", "lit.site.cfg.py"))
    raise SystemExit

sys.path.append(os.path.join(config.tfc_source_root, "test"))
from roundtrip_format import UsesOpt

roundtrip = config.tfc_roundtrip or lit_config.params.get("roundtrip", "0") != "0"
long = lit_config.params.get("long", "0") != "0"

config.name = "tfc-roundtrip" if roundtrip else "tfc"
config.test_format = (UsesOpt if roundtrip else lit.formats.ShTest)(execute_external=False)
config.suffixes = [".mlir", ".graph", ".test", ".c"]
config.excludes = ["Inputs", "runtime", "benchmark"]
config.test_source_root = os.path.join(config.tfc_source_root, "test")
config.test_exec_root = os.path.join(
    config.tfc_build_root, "test", "roundtrip" if roundtrip else "lit"
)

binaries = os.path.join(config.tfc_build_root, "bin")
cuda_tools = os.path.join(config.tfc_source_root, "build", "cuda-tools", "bin")  # of tools/setup --cuda
config.environment["PATH"] = os.pathsep.join([binaries, config.tfc_llvm_tools, os.environ["PATH"], cuda_tools])
for name in ["HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Models for GPUs run on the emulated driver, unless another one is given.
emulated_driver = os.path.join(config.tfc_build_root, "test", "gpu", "emulator", "libtfc-emulated-cuda.so")
config.environment["TFC_CUDA_DRIVER"] = os.environ.get("TFC_CUDA_DRIVER", emulated_driver)
if long:
    config.environment["TFC_LONG"] = "1"


def python_with_numpy():
    for python in [config.tfc_python, "/usr/bin/python3", shutil.which("python3")]:
        if (
            python
            and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0
        ):
            return python
    return None


def has_cuda():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except (OSError, AttributeError):
        return False


python = python_with_numpy()


def find_other_targets():
    """Prints, and tells the tests, the processors that they compile for whose code this one cannot run."""
    script = os.path.join(config.test_source_root, "e2e", "Inputs", "targets.py")
    command = [python, script]
    ran = subprocess.run(command, capture_output=True, text=True, env=config.environment)
    for target in ran.stdout.split():
        lit_config.note(f"code for {target} is compiled, but native code runs: no such processor")
    config.environment["TFC_OTHER_TARGETS"] = " ".join(ran.stdout.split())


def has_flatbuffers():
    return python and subprocess.run([python, "-c", "import flatbuffers"], capture_output=True).returncode == 0


mpi_library = os.path.join(config.tfc_build_root, "lib", "libtfcmpi.so")
mpirun = shutil.which("mpirun")

aarch64_runtime = os.path.join(config.tfc_build_root, "lib", "aarch64-linux-gnu", "libtfcrt.a")
aarch64_tools = ["qemu-aarch64", "aarch64-linux-gnu-gcc"]

clang_format = os.path.join(config.tfc_llvm_tools, "clang-format")

features = {
    "numpy": python is not None,
    "cuda": has_cuda(),
    "tfc": os.path.exists(os.path.join(binaries, "tfc")),
    "flatbuffers": has_flatbuffers(),
    "ptxas": shutil.which("ptxas", path=config.environment["PATH"]) is not None,
    "clang-format": os.path.exists(clang_format),
    "onnx-testdata": os.path.isdir("/usr/share/libonnx-testdata/data/node"),
    "libclc": os.path.exists(config.tfc_libclc),
    "mpi": os.path.exists(mpi_library) and mpirun is not None,
    "qemu-aarch64": os.path.exists(aarch64_runtime) and all(map(shutil.which, aarch64_tools)),
    "long": long,
    "sanitizer": bool(config.tfc_sanitize),
}
config.available_features.update(name for name, present in features.items() if present)

if features["numpy"] and features["tfc"] and not roundtrip:
    find_other_targets()

config.substitutions += [
    ("%python", python or config.tfc_python),
    ("%cc", "cc"),
    ("%source", config.tfc_source_root),
    ("%build", config.tfc_build_root),
    ("%clang-format", clang_format),
    ("%mpirun", os.path.join(config.test_source_root, "e2e", "tasks", "Inputs", "mpirun")),
    ("%tfcmpi", mpi_library),
    ("%cuda-aware-mpi", os.path.join(config.tfc_build_root, "test", "gpu", "mpi", "libtfc-cuda-aware-mpi.so")),
    ("%all-targets", "--all-targets --seconds=600" if long else ""),
    ("%kills", "100" if long else "12"),
    ("%text-programs", "20000" if long else "500"),
]
if roundtrip:
    wrapper = os.path.join(config.test_source_root, "roundtrip-opt")
    config.substitutions.append(
        (r"(?<![\w./-])tfc-opt(?![\w./-])", f"{config.tfc_python} {wrapper}")
    )

if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = int(
        lit_config.params.get("timeout", 7200 if long else 600)
    )
else:
    lit_config.note("no time limit per test: lit needs python3-psutil for it")
