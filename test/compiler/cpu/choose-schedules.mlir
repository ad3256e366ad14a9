// A kernel names the way in which its product is computed, that of a number or one that was chosen for what it computes.
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-choose-schedules=candidate=0 %s | FileCheck %s --check-prefix=FIRST
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-choose-schedules=candidate=1 --tfc-cpu-pack-weights %s | FileCheck %s --check-prefix=SECOND
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-choose-schedules=candidate=1 --tfc-cpu-codegen %s | FileCheck %s --check-prefix=CODE
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-choose-schedules='choices=0123456789abcdef=direct:1x1:1x1x1' %s | FileCheck %s --check-prefix=NONE

// FIRST-LABEL: kernel.func @product(
// FIRST-SAME: kernel.schedule = {count = {{[4-6]}} : i64, hash = "{{[0-9a-f]+}}", way = "direct:4x3:1x{{[0-9]+}}x1"}
// SECOND-LABEL: kernel.func @product(
// SECOND-SAME: kernel.packing = #kernel.packing<columns = 16,
// SECOND-SAME: way = "direct:6x2:1x{{[0-9]+}}x1"}
// CODE-LABEL: llvm.func hidden @product(
// CODE: scf.for {{.*}} iter_args(
// CODE-NOT: kernel.schedule
// NONE-NOT: kernel.schedule
kernel.func @product(%x: tensor<96x128xf32>, %w: tensor<128x192xf32> {kernel.constant}) -> tensor<96x192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<96x192xf32>) -> tensor<96x192xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<96x128xf32>, tensor<128x192xf32>) outs(%i : tensor<96x192xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<96x192xf32>
  kernel.return %p : tensor<96x192xf32>
}

// A kernel without a product has no ways.
// FIRST-LABEL: kernel.func @sum(
// FIRST-NOT: kernel.schedule
kernel.func @sum(%x: tensor<96xf32>) -> tensor<96xf32> {
  %e = tensor.empty() : tensor<96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<96xf32>) outs(%e : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<96xf32>
  kernel.return %r : tensor<96xf32>
}
