// Convolutions with constant weights recover these from transformed ones.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-transform-weights %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-transform-weights --tfc-cpu-pack-weights %s | FileCheck %s --check-prefix=PACK
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-transform-weights --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=CODE
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-choose-schedules=candidate=3 --tfc-cpu-transform-weights %s | FileCheck %s --check-prefix=CHOSEN
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-choose-schedules='candidate=0 winograd=false' --tfc-cpu-transform-weights %s | FileCheck %s --check-prefix=CHOSEN

#image = affine_map<(n, y, x, f, a, b, c) -> (n, y + a, x + b, c)>
#taps = affine_map<(n, y, x, f, a, b, c) -> (a, b, c, f)>
#result = affine_map<(n, y, x, f, a, b, c) -> (n, y, x, f)>

// A panel has the matrices of all 24 elements, for some channels at a time.
// CHECK-LABEL: kernel.func @large(
// CHECK-SAME: %[[X:.*]]: tensor<1x30x30x64xf32>, %[[W:.*]]: tensor<4x6x64x32xf32> {kernel.constant}) -> tensor<1x28x28x32xf32>
// CHECK: %[[L:.*]] = arith.constant dense<{{.*}}> : tensor<3x4xf32>
// CHECK: %[[M:.*]] = arith.constant dense<{{.*}}> : tensor<3x6xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[M]], %[[W]] : {{.*}}) outs({{.*}} : tensor<3x3x64x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]] : tensor<1x30x30x64xf32>, tensor<3x3x64x32xf32>)
// A schedule that the kernel names decides instead of the estimate.
// CHOSEN-LABEL: kernel.func @large(
// CHOSEN-SAME: tensor<3x3x64x32xf32> {kernel.constant}
// CHOSEN-SAME: way = "direct:
// PACK-LABEL: kernel.func @large(
// PACK-SAME: kernel.packing = #kernel.packing<columns = {{[0-9]+}}, sizes = [32, {{[0-9]+}}, 24, {{[0-9]+}}], strides = [1, {{[0-9]+}}, 2048, 32]>
// A unit keeps transformed elements and products on the stack, and multiplies for each of the 24 elements.
// CODE-LABEL: llvm.func hidden @large(
// CODE-COUNT-2: llvm.alloca
// CODE: %[[ELEMENTS:.*]] = arith.constant 24 : index
// CODE: scf.for %{{.*}} = %{{.*}} to %[[ELEMENTS]]
// CODE: llvm.intr.prefetch
// CODE: llvm.intr.fma
// CODE: llvm.return
kernel.func @large(%x: tensor<1x30x30x64xf32>, %w: tensor<3x3x64x32xf32> {kernel.constant}) -> tensor<1x28x28x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x28x28x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %p = linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x32xf32>) outs(%i : tensor<1x28x28x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x28x28x32xf32>
  kernel.return %p : tensor<1x28x28x32xf32>
}

// The transforms would take longer than they save.
// CHECK-LABEL: kernel.func @narrow(
// CHECK-SAME: tensor<3x3x4x32xf32> {kernel.constant}
kernel.func @narrow(%x: tensor<1x30x30x4xf32>, %w: tensor<3x3x4x32xf32> {kernel.constant}) -> tensor<1x28x28x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x28x28x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %p = linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x4xf32>, tensor<3x3x4x32xf32>) outs(%i : tensor<1x28x28x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x28x28x32xf32>
  kernel.return %p : tensor<1x28x28x32xf32>
}

// Weights of a row of taps have tiles of one row.
// CHECK-LABEL: kernel.func @row(
// CHECK-SAME: tensor<1x10x64x32xf32> {kernel.constant}
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x7x64x32xf32>)
// PACK-LABEL: kernel.func @row(
// PACK-SAME: kernel.packing = #kernel.packing<columns = {{[0-9]+}}, sizes = [32, {{[0-9]+}}, 10, {{[0-9]+}}]
kernel.func @row(%x: tensor<1x30x30x64xf32>, %w: tensor<1x7x64x32xf32> {kernel.constant}) -> tensor<1x30x24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x30x24x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x30x24x32xf32>) -> tensor<1x30x24x32xf32>
  %p = linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<1x7x64x32xf32>) outs(%i : tensor<1x30x24x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x30x24x32xf32>
  kernel.return %p : tensor<1x30x24x32xf32>
}

// An axis alone.
// CHECK-LABEL: kernel.func @line(
// CHECK-SAME: tensor<{{6|8|10}}x64x32xf32> {kernel.constant}
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<3x64x32xf32>)
kernel.func @line(%x: tensor<1x130x64xf32>, %w: tensor<3x64x32xf32> {kernel.constant}) -> tensor<1x128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x32xf32>) -> tensor<1x128x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, x, f, a, c) -> (n, x + a, c)>,
      affine_map<(n, x, f, a, c) -> (a, c, f)>, affine_map<(n, x, f, a, c) -> (n, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x130x64xf32>, tensor<3x64x32xf32>) outs(%i : tensor<1x128x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x128x32xf32>
  kernel.return %p : tensor<1x128x32xf32>
}
