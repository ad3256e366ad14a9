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
// CHECK: linalg_ext.sort %{{.*}} along 0 into %{{.*}} : tensor<?xi32> -> tensor<?xi64>
func.func @sort(%k: tensor<?xi32>, %p: tensor<?xi64>) -> tensor<?xi64> {
  %y = linalg_ext.sort %k along 0 into %p : tensor<?xi32> -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// CHECK-LABEL: func.func @sort_first
// CHECK: linalg_ext.sort %{{.*}} along 1 into %{{.*}} : tensor<5x?xi8> -> tensor<5x3xi32>
func.func @sort_first(%k: tensor<5x?xi8>, %p: tensor<5x3xi32>) -> tensor<5x3xi32> {
  %y = linalg_ext.sort %k along 1 into %p : tensor<5x?xi8> -> tensor<5x3xi32>
  return %y : tensor<5x3xi32>
}
