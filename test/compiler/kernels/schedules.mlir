// Code generation uses the schedule that the annotation of sharing made, unless the target has changed since.
// RUN: tfc-opt --tfc-attach-target --tfc-prepare-kernels --tfc-cpu-annotate --tfc-prepare-kernels --tfc-cpu-codegen=report-schedules %s -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=KEPT
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-annotate --tfc-attach-target=mcpu=x86-64 --tfc-cpu-codegen=report-schedules %s -o /dev/null 2>&1 | FileCheck %s

// KEPT-NOT: schedules the kernel
// CHECK: schedules.mlir:[[@LINE+1]]:1: remark: schedules the kernel
kernel.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  kernel.return %x : tensor<4xf32>
}
// CHECK: schedules.mlir:[[@LINE+1]]:1: remark: schedules the kernel
kernel.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  kernel.return %x : tensor<8xf32>
}
