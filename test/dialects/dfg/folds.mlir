// Operations that change nothing are folded.
// RUN: tfc-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg1
func.func @nothing(%x: tensor<4x8xf32>, %p: tensor<4xi1>) -> (tensor<4x8xf32>, tensor<4x8xf32>,
    tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi1>) {
  %0 = dfg.slice %x {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<4, 8>} : tensor<4x8xf32>
  %1 = dfg.place %x {starts = #dfg.dims<0, 0>, shape = #dfg.dims<4, 8>} : tensor<4x8xf32>
  %2 = dfg.pad %x {low = #dfg.dims<0, 0>, high = #dfg.dims<0, 0>} : tensor<4x8xf32>
  %3 = dfg.tile %x {repeats = #dfg.dims<1, 1>} : tensor<4x8xf32>
  %4 = dfg.concat %x : tensor<4x8xf32>
  %5 = dfg.reverse %x {axis = array<i64: 1>} : tensor<4x8xf32>
  %6 = dfg.reverse %5 {axis = array<i64: 1>} : tensor<4x8xf32>
  %7 = dfg.logical_not %p : tensor<4xi1>
  %8 = dfg.logical_not %7 : tensor<4xi1>
  return %0, %1, %2, %3, %4, %6, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>,
      tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi1>
}

// Parts without elements are left out.
// CHECK-LABEL: func.func @empty_parts
// CHECK-NEXT: %[[BOTH:.*]] = dfg.concat %arg0, %arg0 :
// CHECK-NEXT: return %arg0, %[[BOTH]], %arg1
func.func @empty_parts(%x: tensor<4x8xf32>, %none: tensor<0x8xf32>)
    -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<0x8xf32>) {
  %0 = dfg.concat %none, %x {axis = 0 : i64} : tensor<0x8xf32>, tensor<4x8xf32>
  %1 = dfg.concat %x, %none, %x {axis = 0 : i64} : tensor<4x8xf32>, tensor<0x8xf32>, tensor<4x8xf32>
  %2 = dfg.concat %none, %none {axis = 0 : i64} : tensor<0x8xf32>, tensor<0x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<8x8xf32>, tensor<0x8xf32>
}

// A whole slice backwards is not the tensor.
// CHECK-LABEL: func.func @something
// CHECK: dfg.slice
func.func @something(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<3>, sizes = #dfg.dims<4>, steps = array<i64: -1>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
