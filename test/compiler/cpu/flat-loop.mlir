// An elementwise kernel over operands of one shape is one flat loop of four vectors, with a masked tail.
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64-v4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK: affine_map<()[s0] -> ((s0 * 100) ceildiv 64)>
// CHECK-LABEL: llvm.func hidden @twice(
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK-NOT: scf.for
// CHECK: scf.for
// CHECK: llvm.intr.masked.load {{.*}} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
// CHECK: llvm.intr.masked.store
// CHECK-NOT: scf.for
kernel.func @twice(%n: index, %x: tensor<?x100xf32> {kernel.shape = affine_map<()[s0] -> (s0, 100)>})
    -> (tensor<?x100xf32> {kernel.shape = affine_map<()[s0] -> (s0, 100)>}) {
  %e = tensor.empty(%n) : tensor<?x100xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x100xf32>) outs(%e : tensor<?x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x100xf32>
  kernel.return %0 : tensor<?x100xf32>
}
