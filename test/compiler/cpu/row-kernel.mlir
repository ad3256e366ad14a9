// The sum of the exponentials of a row stays in registers, the exponentials on the stack; rows are divided into units.
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64-v4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: #[[ROWS:.*]] = affine_map<()[s0] -> (s0)>
// CHECK: #[[NONE:.*]] = affine_map<()[s0] -> (0)>
// CHECK-LABEL: llvm.func hidden @normalize(
// CHECK-SAME: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: #kernel.abi<extent = #[[ROWS]], grain = {{[0-9]+}}, scratch = #[[NONE]]>
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK-COUNT-4: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: llvm.func hidden @normalize.task(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
kernel.func @normalize(%n: index, %x: tensor<?x256xf32> {kernel.shape = affine_map<()[s0] -> (s0, 256)>})
    -> (tensor<?x256xf32> {kernel.shape = affine_map<()[s0] -> (s0, 256)>}) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x256xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x256xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<?x256xf32>, tensor<?xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x256xf32>
  kernel.return %0 : tensor<?x256xf32>
}
