// The polynomial of a function is made of fused multiply-adds, also that of a constant.
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-codegen --tfc-cpu-expand-math %s | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: llvm.func hidden @constant(
// CHECK-COUNT-3: math.fma
// CHECK-LABEL: llvm.func hidden @fed(
// CHECK-COUNT-3: math.fma {{.*}} : vector<8xf32>
kernel.func @constant() -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %c = arith.constant -7.12 : f32
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %1 = math.exp %c : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}
kernel.func @fed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}
