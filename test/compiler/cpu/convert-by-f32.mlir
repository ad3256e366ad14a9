// Integers are converted to f16 and bf16 through f32, also if the conversion is a single operation.
// RUN: tfc-opt --tfc-cpu-expand-math %s | FileCheck %s

// CHECK-LABEL: func.func @scalar
// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
func.func @scalar(%x: i64) -> bf16 {
  %0 = arith.sitofp %x : i64 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @vector
// CHECK: arith.uitofp %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @vector(%x: vector<8xi32>) -> vector<8xf16> {
  %0 = arith.uitofp %x : vector<8xi32> to vector<8xf16>
  return %0 : vector<8xf16>
}
