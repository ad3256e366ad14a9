// Every operation of linalg_ext prints as it parses.
// RUN: tfc-opt %s | FileCheck %s

// CHECK-LABEL: func.func @scan
// CHECK: linalg_ext.scan %{{.*}}, %{{.*}} along 1 exclusive reverse : f32, tensor<?x8xf32> -> tensor<?x8xf32> {
// CHECK: linalg_ext.yield %{{.*}} : f32
func.func @scan(%x: tensor<?x8xf32>, %zero: f32) -> tensor<?x8xf32> {
  %y = linalg_ext.scan %zero, %x along 1 exclusive reverse : f32, tensor<?x8xf32> -> tensor<?x8xf32> {
  ^bb0(%sum: f32, %e: f32):
    %next = arith.addf %sum, %e : f32
    linalg_ext.yield %next : f32
  }
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @scatter
// CHECK: linalg_ext.scatter %{{.*}} into %{{.*}} at %{{.*}} : tensor<?x8xf32>, tensor<100x8xf32>, tensor<?x1xi64> {
func.func @scatter(%u: tensor<?x8xf32>, %x: tensor<100x8xf32>, %i: tensor<?x1xi64>) -> tensor<100x8xf32> {
  %y = linalg_ext.scatter %u into %x at %i : tensor<?x8xf32>, tensor<100x8xf32>, tensor<?x1xi64> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  return %y : tensor<100x8xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK: linalg_ext.sort %{{.*}}, %{{.*}} along 0 : tensor<?xi64>, tensor<?xi32> -> tensor<?xi64>, tensor<?xi32> {
func.func @sort(%k: tensor<?xi64>, %p: tensor<?xi32>) -> (tensor<?xi64>, tensor<?xi32>) {
  %y:2 = linalg_ext.sort %k, %p along 0 : tensor<?xi64>, tensor<?xi32> -> tensor<?xi64>, tensor<?xi32> {
  ^bb0(%a: i64, %b: i64, %pa: i32, %pb: i32):
    %before = arith.cmpi slt, %a, %b : i64
    linalg_ext.yield %before : i1
  }
  return %y#0, %y#1 : tensor<?xi64>, tensor<?xi32>
}

// CHECK-LABEL: func.func @sort_last
// CHECK: linalg_ext.sort %{{.*}} along 0 last 3 : tensor<?xi64> -> tensor<?xi64>
func.func @sort_last(%k: tensor<?xi64>) -> tensor<?xi64> {
  %y = linalg_ext.sort %k along 0 last 3 : tensor<?xi64> -> tensor<?xi64> {
  ^bb0(%a: i64, %b: i64):
    %before = arith.cmpi slt, %a, %b : i64
    linalg_ext.yield %before : i1
  }
  return %y : tensor<?xi64>
}
