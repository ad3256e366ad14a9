// A maximum selects the right operand, a comparison and a selection that are one instruction of most processors, and is NaN
// if the right operand is; the left one is NaN then by itself. A constant operand needs no check.
// RUN: tfc-opt --tfc-cpu-expand-math %s | FileCheck %s

// CHECK-LABEL: @largest
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : vector<16xf32>
// CHECK-DAG: %[[GREATER:.*]] = arith.cmpf ogt, %[[B:.*]], %[[A:.*]] : vector<16xf32>
// CHECK: %[[EXTREME:.*]] = arith.select %[[GREATER]], %[[B]], %[[A]]
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[B]], %[[B]]
// CHECK: arith.select %[[IS_NAN]], %[[NAN]], %[[EXTREME]]
func.func @largest(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maximumf %a, %b : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: @capped
// CHECK: %[[SIX:.*]] = arith.constant 6.0
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[SIX]], %[[X:.*]] : f32
// CHECK: arith.select %[[LESS]], %[[SIX]], %[[X]]
// CHECK-NOT: uno
// CHECK: return
func.func @capped(%x: f32) -> f32 {
  %six = arith.constant 6.0 : f32
  %0 = arith.minimumf %six, %x : f32
  return %0 : f32
}
