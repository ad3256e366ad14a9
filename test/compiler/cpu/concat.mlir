// Where a condition of a body changes along the lanes, the loop is divided: each part of a concatenation is read by vectors,
// without a choice among all parts.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @concat(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr {{.*}}, %[[Y:.*]]: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr
// CHECK-NOT: arith.select
// CHECK-NOT: gather
// CHECK: llvm.getelementptr %[[X]]
// CHECK: llvm.getelementptr %[[Y]]
// CHECK: llvm.return
kernel.func @concat(%x: tensor<8x64xf32>, %y: tensor<8x40xf32>) -> tensor<8x104xf32> {
  %zero = arith.constant 0 : index
  %start = arith.constant 64 : index
  %last = arith.constant 63 : index
  %end = arith.constant 39 : index
  %e = tensor.empty() : tensor<8x104xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<8x104xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %second = arith.subi %j, %start : index
    %upper = arith.minsi %second, %end : index
    %clamped = arith.maxsi %upper, %zero : index
    %b = tensor.extract %y[%i, %clamped] : tensor<8x40xf32>
    %first = arith.minsi %j, %last : index
    %a = tensor.extract %x[%i, %first] : tensor<8x64xf32>
    %isFirst = arith.cmpi slt, %j, %start : index
    %chosen = arith.select %isFirst, %a, %b : f32
    linalg.yield %chosen : f32
  } -> tensor<8x104xf32>
  kernel.return %c : tensor<8x104xf32>
}
