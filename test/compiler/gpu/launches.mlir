// A nest is a launch with a thread for each point that is independent of the others.
// RUN: tfc-opt --tfc-gpu-attach-target --tfc-prepare-kernels --tfc-gpu-codegen %s | FileCheck %s

// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> ((s0 ceildiv 64) * 512)>
// CHECK-DAG: #[[WARPS:.*]] = affine_map<() -> (256)>
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<() -> (2048)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<() -> (2560)>
// CHECK-DAG: #[[WARP:.*]] = affine_map<() -> (32)>

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
#one = affine_map<(i) -> (i)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Elements: neighbouring threads have neighbouring columns.
// CHECK: llvm.func @elements({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}target = "gpu", grids = [<"elements_0", threads = #[[N4:.*]], block = 256>]>}
kernel.func @elements(%n: index, %x: tensor<?x4xf32> {kernel.shape = affine_map<()[s0] -> (s0, 4)>})
    -> (tensor<?x4xf32> {kernel.shape = affine_map<()[s0] -> (s0, 4)>}) attributes {target = "gpu"} {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x4xf32>
  kernel.return %y : tensor<?x4xf32>
}

// Rows: the sum of a row is read by each of its elements, by the same thread.
// CHECK: llvm.func @rows({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}grids = [<"rows_0", threads = #[[EIGHT:.*]], block = 256>]>}
kernel.func @rows(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {target = "gpu"} {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x4xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x4xf32>, tensor<8xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  kernel.return %y : tensor<8x4xf32>
}

// Rows of a few hundred elements: a warp each, whose threads take turns along the row.
// CHECK: llvm.func @warps({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}grids = [<"warps_0", threads = #[[WARPS]], block = 256>]>}
kernel.func @warps(%x: tensor<8x300xf32>) -> tensor<8xf32> attributes {target = "gpu"} {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x300xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  kernel.return %sum : tensor<8xf32>
}

// Long rows: a block each, whose warps exchange their sums in shared memory.
// CHECK: llvm.func @blocks({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}grids = [<"blocks_0", threads = #[[BLOCKS]], block = 256>]>}
kernel.func @blocks(%x: tensor<8x5000xf64>) -> tensor<8xf64> attributes {target = "gpu"} {
  %zero = arith.constant dense<0.0> : tensor<8xf64>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x5000xf64>) outs(%zero : tensor<8xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.addf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<8xf64>
  kernel.return %sum : tensor<8xf64>
}

// A long sum of one point: blocks compute parts, and a warp adds these up.
// CHECK: llvm.func @parts({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}grids = [<"parts_0", threads = #[[PARTS]], block = 256>, <"parts_1", threads = #[[WARP]], block = 256>]>}
kernel.func @parts(%x: tensor<90000xf32>) -> tensor<f32> attributes {target = "gpu"} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<90000xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  kernel.return %sum : tensor<f32>
}

// A product with enough rows, columns and terms: a block for each tile of 64 x 64 elements.
// CHECK: llvm.func @tiles({{.*}}) attributes {kernel.abi = #kernel.abi<{{.*}}grids = [<"tiles_0", threads = #[[TILES]], block = 256>]>}
kernel.func @tiles(%n: index, %x: tensor<?x40xf32> {kernel.shape = affine_map<()[s0] -> (s0, 40)>}, %w: tensor<40x100xf32>)
    -> (tensor<?x100xf32> {kernel.shape = affine_map<()[s0] -> (s0, 100)>}) attributes {target = "gpu"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x100xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x100xf32>) -> tensor<?x100xf32>
  %y = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x40xf32>, tensor<40x100xf32>) outs(%0 : tensor<?x100xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x100xf32>
  kernel.return %y : tensor<?x100xf32>
}

// Products of 16-bit floats, which are summed in f32: matrix units.
// CHECK: llvm.func @halves(
kernel.func @halves(%x: tensor<64x40xbf16>, %w: tensor<40x100xbf16>) -> tensor<64x100xbf16> attributes {target = "gpu"} {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x100xbf16>
  %0 = linalg.fill ins(%zero : bf16) outs(%e : tensor<64x100xbf16>) -> tensor<64x100xbf16>
  %y = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x40xbf16>, tensor<40x100xbf16>) outs(%0 : tensor<64x100xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %1 = arith.mulf %a, %b : bf16
    %2 = arith.addf %c, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<64x100xbf16>
  kernel.return %y : tensor<64x100xbf16>
}

// A sum that all elements read is a launch of its own, and passes in scratch memory.
// CHECK: llvm.func @whole({{.*}}) attributes {kernel.abi = #kernel.abi<extent = #{{.*}}, grain = 1, scratch = #[[SCRATCH:.*]], target = "gpu", grids = [<"whole_0", threads = #[[ONE:.*]], block = 256>, <"whole_1", threads = #[[EIGHT]], block = 256>]>}
kernel.func @whole(%x: tensor<8xf32>) -> tensor<8xf32> attributes {target = "gpu"} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#one, #none, #one], iterator_types = ["parallel"]}
      ins(%x, %sum : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  kernel.return %y : tensor<8xf32>
}

// CHECK: module @device_code
// CHECK: llvm.func ptx_kernelcc @elements_0(%{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: llvm.func ptx_kernelcc @rows_0
// CHECK-NOT: shfl
// CHECK: llvm.func ptx_kernelcc @warps_0(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64})
// CHECK-COUNT-5: llvm.nvvm.shfl.sync.bfly.i32
// CHECK-NOT: barrier.cta
// CHECK: llvm.func ptx_kernelcc @blocks_0
// CHECK-COUNT-10: llvm.nvvm.shfl.sync.bfly.i32
// CHECK-COUNT-2: llvm.nvvm.barrier.cta.sync.aligned.all
// CHECK: llvm.func ptx_kernelcc @tiles_0
// CHECK: llvm.mlir.addressof @[[SHARED:.*]] : !llvm.ptr<3>
// CHECK: scf.for
// CHECK-COUNT-256: math.fma
// CHECK: llvm.func ptx_kernelcc @halves_0
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK: llvm.func ptx_kernelcc @whole_0
// CHECK: llvm.func ptx_kernelcc @whole_1
