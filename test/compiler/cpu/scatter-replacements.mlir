// A scatter that replaces elements stores without branches: what is outside goes to memory that nothing reads. One that adds
// to elements branches, so that sums do not wait for each other.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver3 --tfc-prepare-kernels --tfc-cpu-codegen --canonicalize %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @replace(
// CHECK: %[[UNREAD:.*]] = llvm.alloca
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK-DAG: arith.select %[[INSIDE]], %{{.*}}, %[[UNREAD]] : !llvm.ptr
// CHECK-DAG: arith.select %[[INSIDE]], %{{.*}} : index
// CHECK-NOT: scf.if
// CHECK: llvm.store
// CHECK: llvm.return
kernel.func @replace(%x: tensor<8xf32>, %u: tensor<3xf32>, %i: tensor<3x1xi64>)
    -> (tensor<8xf32> {kernel.in_place = 0 : i32}) {
  %y = linalg_ext.scatter %u into %x at %i : tensor<3xf32>, tensor<8xf32>, tensor<3x1xi64> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  kernel.return %y : tensor<8xf32>
}

// CHECK-LABEL: llvm.func hidden @add(
// CHECK-NOT: llvm.alloca
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: llvm.return
kernel.func @add(%x: tensor<8xf32>, %u: tensor<3xf32>, %i: tensor<3x1xi64>)
    -> (tensor<8xf32> {kernel.in_place = 0 : i32}) {
  %y = linalg_ext.scatter %u into %x at %i : tensor<3xf32>, tensor<8xf32>, tensor<3x1xi64> {
  ^bb0(%old: f32, %update: f32):
    %s = arith.addf %old, %update : f32
    linalg_ext.yield %s : f32
  }
  kernel.return %y : tensor<8xf32>
}
