// Operations that mention a data-dependent size are placed after the one that binds it, on the same side
// of a branch. A size that is used beside the branch that binds it is an error.
// RUN: tfc-opt %s --tfc-structure-control-flow --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @order(
// CHECK: %[[COUNT:.*]] = dfg.sum
// CHECK-NEXT: dfg.bind_size %[[COUNT]] {{.*}}size = #dfg.dims<k>
// CHECK-NEXT: %[[X:.*]] = dfg.iota {{.*}}size = #dfg.dims<k>
// CHECK-NEXT: %[[Y:.*]] = dfg.sum %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @order(%m: tensor<8xi64>) -> tensor<i64> {
  %y = dfg.dataflow -> tensor<i64> {
    %s = dfg.sum %x : tensor<?xi64, #dfg.dims<k>>
    %x = dfg.iota {size = #dfg.dims<k>, dtype = i64}
    dfg.bind_size %c {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i64>
    %c = dfg.sum %m : tensor<8xi64>
    dfg.yield %s : tensor<i64>
  }
  return %y : tensor<i64>
}

// -----

// CHECK-LABEL: func.func @branch(
// CHECK: dfg.if
// CHECK-NEXT: dfg.bind_size
// CHECK-NEXT: dfg.iota
// CHECK-NEXT: dfg.sum
func.func @branch(%p: tensor<i1>, %c: tensor<i64>) -> tensor<i64> {
  %y = dfg.dataflow -> tensor<i64> {
    %t, %f = dfg.switch %c, %p : tensor<i64>, tensor<i1>
    dfg.bind_size %t {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i64>
    %x = dfg.iota {size = #dfg.dims<k>, dtype = i64}
    %s = dfg.sum %x : tensor<?xi64, #dfg.dims<k>>
    %m, %i = dfg.merge %s, %f : tensor<i64>, tensor<i64>
    dfg.yield %m : tensor<i64>
  }
  return %y : tensor<i64>
}
