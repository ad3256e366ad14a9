// With mask registers a maximum is one instruction, masked where the right operand is a number: two of them. The left
// operand is returned where it is NaN.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-codegen --tfc-cpu-expand-math %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-codegen --tfc-cpu-expand-math %s \
// RUN:   | FileCheck %s --check-prefix=AVX2

// CHECK-LABEL: llvm.func hidden @largest(
// CHECK: %[[MAX:.*]] = llvm.call_intrinsic "llvm.x86.avx512.max.ps.512"(%[[X:.*]], %{{.*}}, %{{.*}})
// CHECK: %[[IS_NUMBER:.*]] = arith.cmpf ord, %[[X]], %[[X]] : vector<16xf32>
// CHECK: arith.select %[[IS_NUMBER]], %[[MAX]], %[[X]]
// AVX2-LABEL: llvm.func hidden @largest(
// AVX2-NOT: llvm.call_intrinsic
kernel.func @largest(%x: tensor<128x768xf32>) -> tensor<128xf32> {
  %worst = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<128xf32>
  %i = linalg.fill ins(%worst : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<128x768xf32>) outs(%i : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32):
    %l = arith.maximumf %b, %a : f32
    linalg.yield %l : f32
  } -> tensor<128xf32>
  kernel.return %m : tensor<128xf32>
}
