// A product that only a sum uses is fused with it before anything folds constants, so that a kernel over constants has
// the bits of one over values of run time.
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s --check-prefix=NONE

#id = affine_map<(d0) -> (d0)>

// NONE-NOT: math.fma

// CHECK-LABEL: llvm.func hidden @sums(
// CHECK-COUNT-2: math.fma {{.*}} : vector<8xf32>
// CHECK: arith.negf
// CHECK-NEXT: math.fma {{.*}} : vector<8xf32>
// CHECK: %[[NEGATED:.*]] = arith.negf
// CHECK-NEXT: math.fma %[[NEGATED]], {{.*}} : vector<8xf32>
// CHECK: %[[TWICE:.*]] = arith.mulf
// CHECK-NEXT: arith.addf %[[TWICE]], %[[TWICE]]
kernel.func @sums(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %c = arith.constant 1.1 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.addf %1, %c : f32
    %3 = arith.mulf %2, %b : f32
    %4 = arith.addf %a, %3 : f32
    %5 = arith.mulf %4, %a : f32
    %6 = arith.subf %5, %b : f32
    %7 = arith.mulf %6, %b : f32
    %8 = arith.subf %a, %7 : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.addf %9, %9 : f32
    linalg.yield %10 : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}
