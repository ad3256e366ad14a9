#!/bin/sh
# Compiles the kernels to PTX by clang 22, which is part of LLVM as the project uses it.
cd "$(dirname "$0")"
clang++-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudalib -nocudainc -O2 -ffp-contract=off \
  -Wno-unknown-cuda-version -Wno-pragma-once-outside-header -S kernels.h -o kernels.ptx
