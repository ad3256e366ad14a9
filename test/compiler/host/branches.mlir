// A branch is an scf.if that returns its scalars; tensors are computed in, or copied to, the memory
// of its results. A pop from a tape is checked first.
// RUN: tfc-opt --tfc-plan-memory --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

dfg.tape @saved : tensor<4xf32>

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK: %[[LENGTH:.*]] = llvm.alloca
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: %[[P:.*]] = arith.cmpi ne, %[[LOADED]]
// CHECK: %[[COUNT:.*]] = scf.if %[[P]] -> (i32) {
// CHECK: rt.launch %{{.*}}, @next(%{{.*}}, %[[RESULT:.*]], %{{.*}})
// CHECK: scf.yield %[[ONE:.*]] : i32
// CHECK: } else {
// CHECK: %[[OLD:.*]] = llvm.load %[[LENGTH]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[OLD]]
// CHECK: %[[IS_THERE:.*]] = arith.cmpi sge, %[[LEFT]]
// CHECK: rt.check %{{.*}}, %[[IS_THERE]] else failed_precondition "'saved' is empty"
// CHECK: llvm.store %[[LEFT]], %[[LENGTH]]
// CHECK: "llvm.intr.memcpy"(%[[POPPED:.*]], %{{.*}}, %{{.*}})
// CHECK: "llvm.intr.memcpy"(%[[RESULT]], %[[POPPED]], %{{.*}})
// CHECK: scf.yield %{{.*}} : i32
// CHECK: llvm.store %[[COUNT]]
dfg.entry @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %y, %n = dfg.if %p : tensor<i1> -> tensor<4xf32>, tensor<i32> {
    %a = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
    dfg.yield %a, %one : tensor<4xf32>, tensor<i32>
  } else {
    %a = dfg.pop @saved : tensor<4xf32>
    dfg.yield %a, %zero : tensor<4xf32>, tensor<i32>
  }
  dfg.return %y, %n : tensor<4xf32>, tensor<i32>
}

llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
