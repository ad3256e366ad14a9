// Graphs that the language refuses are not written.
// RUN: split-file %s %t
// RUN: not tfc compile %t/clamp.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=CLAMP
// RUN: not tfc compile %t/zero.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tfc compile %t/endless.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not tfc compile %t/order.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not tfc compile %t/node.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: tfc compile %t/node.mlir --emit=graph --stop-after=controlflow | FileCheck %s --check-prefix=REGIONS
// RUN: not tfc compile %t/rows.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=ROWS
// CLAMP: clamp.mlir:5:{{.*}}: error: 'clamp' expects 'min' to be at most 'max', but got 2 and 1, which the graph language refuses [no-text]
// ZERO: zero.mlir:4:{{.*}}: error: 'mod' of integers by zero makes every call fail, which the graph language refuses [no-text]
// ENDLESS: endless.mlir:3:{{.*}}: error: this loop never ends once it begins, which the graph language refuses [no-text]
// ORDER: order.mlir:6:{{.*}}: error: this and another use of 'v', which one of them changes, have an order that no value or control edge expresses, which the graph language requires [no-text]
// ORDER: order.mlir:5:{{.*}}: note: the other one
// ORDER: note: --stop-after=controlflow writes branches and loops in place of this form
// NODE: node.mlir:4:{{.*}}: error: 'dfg.node' cannot be written in the graph language [no-text]
// NODE: note: --stop-after=controlflow writes branches and loops in place of this form
// REGIONS: entry e(
// The gradient would be rows: nothing in the block depends on the block.
// ROWS: rows.mlir:8:{{.*}}: error: 'dfg.gradients' cannot be written in the graph language [no-text]
//--- clamp.mlir
module @m {
  dfg.entry @e(%x: tensor<f32>) -> (tensor<f32> {dfg.name = "y"}) {
    %low = dfg.constant dense<2.0> : tensor<f32>
    %high = dfg.constant dense<1.0> : tensor<f32>
    %y = dfg.clamp %x, %low, %high : tensor<f32>, tensor<f32>, tensor<f32>
    dfg.return %y : tensor<f32>
  }
}
//--- zero.mlir
module @m {
  dfg.entry @e(%x: tensor<i32>) -> (tensor<i32> {dfg.name = "y"}) {
    %zero = dfg.constant dense<0> : tensor<i32>
    %y = dfg.mod %x, %zero : tensor<i32>, tensor<i32>
    dfg.return %y : tensor<i32>
  }
}
//--- endless.mlir
module @m {
  dfg.entry @e(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32> {dfg.name = "y"}) {
    %y = dfg.while(%x) : tensor<f32> {
    ^bb0(%z: tensor<f32>):
      dfg.condition %p : tensor<i1>
    } do {
    ^bb0(%z: tensor<f32>):
      %next = dfg.neg %z : tensor<f32>
      dfg.yield %next : tensor<f32>
    }
    dfg.return %y : tensor<f32>
  }
}
//--- order.mlir
module @m {
  dfg.variable @v : tensor<f32>
  dfg.entry @e(%x: tensor<f32>) -> (tensor<f32> {dfg.name = "y"}) {
    %y = dfg.dataflow -> tensor<f32> attributes {names = ["y"]} {
      %a = dfg.assign @v, %x : tensor<f32>
      %b = dfg.read @v : tensor<f32>
      dfg.yield %b : tensor<f32>
    }
    dfg.return %y : tensor<f32>
  }
}
//--- node.mlir
module @m {
  dfg.entry @e(%x: tensor<f32>) -> (tensor<f32> {dfg.name = "y"}) {
    %y = dfg.dataflow -> tensor<f32> attributes {names = ["y"]} {
      %a, %done = dfg.node after() -> tensor<f32> {
        dfg.yield %x : tensor<f32>
      }
      dfg.yield %a : tensor<f32>
    }
    dfg.return %y : tensor<f32>
  }
}
//--- rows.mlir
module @m {
  dfg.entry @e(%x: tensor<8x4xf32>, %i: tensor<3xi64>) -> (tensor<8x4xf32> {dfg.name = "y"}) {
    %loss = dfg.dataflow -> tensor<f32> attributes {names = ["loss"]} {
      %0 = dfg.gather %x, %i : tensor<8x4xf32>, tensor<3xi64>
      %1 = dfg.sum %0 : tensor<3x4xf32>
      dfg.yield %1 : tensor<f32>
    }
    %y = dfg.gradients %loss, [%x] : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    dfg.return %y : tensor<8x4xf32>
  }
}
