// A data-dependent size is bound as a name in the entry, where a variable's name cannot be bound.
// RUN: split-file %s %t
// RUN: tfc compile %t/inside.mlir --emit=graph > %t/inside.graph
// RUN: FileCheck %s < %t/inside.graph
// RUN: tfc compile %t/inside.graph -o %t/inside.o
// RUN: not tfc compile %t/result.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=RESULT
// CHECK: k_size = bounded(count, 9)
// CHECK-NEXT: [[SIZE:v[_0-9]*]] = i64(k_size)
// CHECK-NEXT: [[READ:v[_0-9]*]] = _state_1
// CHECK-NEXT: add([[SIZE]], [[READ]])
// CHECK: let _state_1 = k
// RESULT: result.mlir:3:3: error: the size 'k' has the name of a variable, and expressions of the graph language cannot tell them apart [no-text]
//--- inside.mlir
module @m {
  dfg.variable @k : tensor<i64>
  dfg.entry @e(%count: tensor<i32> {dfg.name = "count"}) -> (tensor<i64> {dfg.name = "y"}) {
    dfg.bind_size %count {bound = #dfg.dims<9>, size = #dfg.dims<k>} : tensor<i32>
    %size = dfg.size {dtype = i64, value = #dfg.dims<k>}
    %read = dfg.read @k : tensor<i64>
    %y = dfg.add %size, %read : tensor<i64>, tensor<i64>
    dfg.return %y : tensor<i64>
  }
}
//--- result.mlir
module @m {
  dfg.variable @k : tensor<f32>
  dfg.entry @e(%count: tensor<i32> {dfg.name = "count"}) -> (tensor<?xf32, #dfg.dims<k>> {dfg.name = "y"}) {
    dfg.bind_size %count {bound = #dfg.dims<9>, size = #dfg.dims<k>} : tensor<i32>
    %read = dfg.read @k : tensor<f32>
    %y = dfg.broadcast %read {shape = #dfg.dims<k>} : tensor<f32>
    dfg.return %y : tensor<?xf32, #dfg.dims<k>>
  }
}
