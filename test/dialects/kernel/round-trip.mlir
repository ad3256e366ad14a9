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
