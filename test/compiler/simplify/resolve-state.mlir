// A variable is read once at the start and assigned once at the end; in between it is a value.
// RUN: tfc-opt --tfc-resolve-state %s | FileCheck %s

dfg.variable @v : tensor<4xf32>

// CHECK-LABEL: dfg.entry @f
// CHECK: %[[V:.*]] = dfg.read @v
// CHECK-NEXT: %[[A:.*]] = dfg.add %[[V]], %[[X:.*]] :
// CHECK-NEXT: %[[B:.*]] = dfg.mul %[[A]], %[[V]]
// CHECK-NEXT: dfg.assign @v, %[[B]]
// CHECK-NEXT: dfg.return %[[A]]
dfg.entry @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dfg.read @v : tensor<4xf32>
  %1 = dfg.add %0, %x : tensor<4xf32>, tensor<4xf32>
  %2 = dfg.assign @v, %1 : tensor<4xf32>
  %3 = dfg.read @v : tensor<4xf32>
  %4 = dfg.mul %3, %0 : tensor<4xf32>, tensor<4xf32>
  %5 = dfg.assign @v, %4 : tensor<4xf32>
  dfg.return %3 : tensor<4xf32>
}
