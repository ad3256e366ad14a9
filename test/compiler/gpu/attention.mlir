// Attention in one kernel is one launch, whose blocks compute 64 rows each, if the scores are divided by the sum of their
// row once: then the division can wait for the end of the row. Other functions of the sum need it before; each sum is a
// launch then.
// RUN: tfc-opt --tfc-gpu-attach-target --tfc-prepare-kernels --tfc-gpu-codegen %s | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<() -> (512)>

// CHECK: llvm.func @attention({{.*}}grids = [<"attention_0", threads = #[[BLOCKS]], block = 256>]>}
kernel.func @attention(%q: tensor<70x32xf32>, %k: tensor<90x32xf32>, %v: tensor<90x48xf32>)
    -> tensor<70x48xf32> attributes {target = "gpu"} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<70x90xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<70x90xf32>) -> tensor<70x90xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<70x32xf32>, tensor<90x32xf32>) outs(%z0 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x90xf32>
  %e1 = tensor.empty() : tensor<70xf32>
  %l = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<70xf32>) -> tensor<70xf32>
  %max = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<70x90xf32>) outs(%l : tensor<70xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.maximumf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<70xf32>
  %e2 = tensor.empty() : tensor<70x90xf32>
  %exp = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%s, %max : tensor<70x90xf32>, tensor<70xf32>) outs(%e2 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x90xf32>
  %e3 = tensor.empty() : tensor<70xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<70xf32>) -> tensor<70xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<70x90xf32>) outs(%z1 : tensor<70xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<70xf32>
  %p = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<70x90xf32>, tensor<70xf32>) outs(%e2 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<70x90xf32>
  %e4 = tensor.empty() : tensor<70x48xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<70x48xf32>) -> tensor<70x48xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<70x90xf32>, tensor<90x48xf32>) outs(%z2 : tensor<70x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x48xf32>
  kernel.return %y : tensor<70x48xf32>
}

// CHECK: llvm.func @scaled({{.*}}grids = [<"scaled_0", {{.*}}>, <"scaled_1"
kernel.func @scaled(%q: tensor<70x32xf32>, %k: tensor<90x32xf32>, %v: tensor<90x48xf32>)
    -> tensor<70x48xf32> attributes {target = "gpu"} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<70x90xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<70x90xf32>) -> tensor<70x90xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<70x32xf32>, tensor<90x32xf32>) outs(%z0 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x90xf32>
  %e1 = tensor.empty() : tensor<70xf32>
  %l = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<70xf32>) -> tensor<70xf32>
  %max = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<70x90xf32>) outs(%l : tensor<70xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.maximumf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<70xf32>
  %e2 = tensor.empty() : tensor<70x90xf32>
  %exp = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%s, %max : tensor<70x90xf32>, tensor<70xf32>) outs(%e2 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x90xf32>
  %e3 = tensor.empty() : tensor<70xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<70xf32>) -> tensor<70xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<70x90xf32>) outs(%z1 : tensor<70xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<70xf32>
  %p = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<70x90xf32>, tensor<70xf32>) outs(%e2 : tensor<70x90xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<70x90xf32>
  %e4 = tensor.empty() : tensor<70x48xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<70x48xf32>) -> tensor<70x48xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<70x90xf32>, tensor<90x48xf32>) outs(%z2 : tensor<70x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<70x48xf32>
  kernel.return %y : tensor<70x48xf32>
}
