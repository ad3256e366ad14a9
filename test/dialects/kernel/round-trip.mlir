// Kernels and generated code print as they parse.
// RUN: tfc-opt %s | tfc-opt | FileCheck %s

// CHECK: #[[SIZE:.*]] = affine_map<()[s0] -> (s0)>
// CHECK: #[[NONE:.*]] = affine_map<() -> (0)>

// CHECK: kernel.func @twice(%[[N:.*]]: index, %{{.*}}: tensor<?xf32> {kernel.shape = #[[SIZE]]})
// CHECK-SAME: -> (tensor<?xf32> {kernel.in_place = 0 : i32, kernel.may_share = array<i32: 0>, kernel.shape = #[[SIZE]]})
// CHECK-SAME: attributes {symbols = ["n"]}
// CHECK: kernel.return %{{.*}} : tensor<?xf32>
kernel.func @twice(%n: index, %x: tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>})
    -> (tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>, kernel.may_share = array<i32: 0>,
                       kernel.in_place = 0 : i32}) attributes {symbols = ["n"]} {
  kernel.return %x : tensor<?xf32>
}

// CHECK: kernel.func @declared(tensor<f32>)
kernel.func @declared(tensor<f32>)

// CHECK: llvm.func @code({{.*}}) attributes {kernel.abi = #kernel.abi<extent = #[[SIZE]], grain = 8, scratch = #[[NONE]]>}
llvm.func @code(i64, !llvm.ptr, i64, i64)
    attributes {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 8, scratch = affine_map<() -> (0)>>}

// CHECK: module attributes {kernel.targets
// CHECK: kernel.image for "gpu" code "" binaries [#kernel.binary<capability = 80, code = "a">, #kernel.binary<capability = 90, code = "\7FELF\00">]
module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "", l1 = 131072, l2 = 4194304>}} {
  kernel.image for "gpu" code "" binaries [#kernel.binary<capability = 80, code = "a">, #kernel.binary<capability = 90, code = "\7FELF\00">]
}

// CHECK: module attributes {kernel.targets
// CHECK: kernel.image for "gpu" code ".version 7.0"
// CHECK: llvm.func @grids({{.*}}) attributes {kernel.abi = #kernel.abi<extent = #{{.*}}, grain = 1, scratch = #[[NONE]], target = "gpu", grids = [<"grids_0", threads = #[[SIZE]], block = 256>]>}
module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "", l1 = 131072, l2 = 4194304>}} {
  kernel.image for "gpu" code ".version 7.0"
  llvm.func @grids(i64, !llvm.ptr)
      attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>,
                                           target = "gpu",
                                           grids = [<"grids_0", threads = affine_map<()[s0] -> (s0)>, block = 256>]>}
}
