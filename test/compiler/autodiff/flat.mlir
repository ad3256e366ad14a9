// Gradients through piecewise constant functions, conditions and constants are zero, without an error.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// Steps of floats have a slope: zero.
// CHECK-LABEL: dfg.entry @steps
// CHECK: %[[ZERO:.*]] = dfg.broadcast
// CHECK: dfg.return %[[ZERO]]
dfg.entry @steps(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = dfg.floor %x : tensor<4xf64>
  %1 = dfg.sum %0 : tensor<4xf64>
  %2 = dfg.gradients %1, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %2 : tensor<4xf64>
}

// The condition of a select is not a path to the loss.
// CHECK-LABEL: dfg.entry @condition
// CHECK: %[[ZERO:.*]] = dfg.broadcast
// CHECK: dfg.return %[[ZERO]]
dfg.entry @condition(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = dfg.less %x, %y : tensor<4xf64>, tensor<4xf64>
  %1 = dfg.square %y : tensor<4xf64>
  %2 = dfg.select %0, %y, %1 : tensor<4xi1>, tensor<4xf64>, tensor<4xf64>
  %3 = dfg.sum %2 : tensor<4xf64>
  %4 = dfg.gradients %3, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %4 : tensor<4xf64>
}

// An author may treat any value as constant, of any element type.
// CHECK-LABEL: dfg.entry @stopped
// CHECK: %[[ZERO:.*]] = dfg.broadcast
// CHECK: dfg.return %[[ZERO]]
dfg.entry @stopped(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = dfg.stop_gradient %x : tensor<4xf64>
  %1 = dfg.argmax %x : tensor<4xf64>
  %2 = dfg.stop_gradient %1 : tensor<i32>
  %3 = dfg.cast %2 {dtype = f64} : tensor<i32>
  %4 = dfg.mul %0, %3 : tensor<4xf64>, tensor<f64>
  %5 = dfg.sum %4 : tensor<4xf64>
  %6 = dfg.gradients %5, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %6 : tensor<4xf64>
}

// The slope of a maximum depends on x by comparisons alone, and so does a mask that an author wrote.
// CHECK-LABEL: dfg.entry @second
// CHECK-DAG: %[[ZERO:.*]] = dfg.broadcast
// CHECK: dfg.return %[[ZERO]], %[[ZERO]]
dfg.entry @second(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = dfg.max %x : tensor<4xf64>
  %1 = dfg.gradients %0, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  %2 = dfg.sum %1 : tensor<4xf64>
  %3 = dfg.gradients %2, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  %zero = dfg.constant dense<0.0> : tensor<f64>
  %4 = dfg.greater %x, %zero : tensor<4xf64>, tensor<f64>
  %5 = dfg.cast %4 {dtype = f64} : tensor<4xi1>
  %6 = dfg.mul %x, %5 : tensor<4xf64>, tensor<4xf64>
  %7 = dfg.sum %6 : tensor<4xf64>
  %8 = dfg.gradients %7, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  %9 = dfg.sum %8 : tensor<4xf64>
  %10 = dfg.gradients %9, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %3, %10 : tensor<4xf64>, tensor<4xf64>
}

// Of two gathers one leads through a step: its rows are zeros, and counted.
// CHECK-LABEL: dfg.entry @rows
// CHECK: %[[ZERO:.*]] = dfg.broadcast {{.*}} {shape = #dfg.dims<2, 8>}
// CHECK: dfg.concat {{.*}}%[[ZERO]]
// CHECK: dfg.return
dfg.entry @rows(%table: tensor<100x8xf32>, %i: tensor<3xi64>, %j: tensor<2xi64>)
    -> (tensor<5xi64>, tensor<5x8xf32>) {
  %0 = dfg.gather %table, %i : tensor<100x8xf32>, tensor<3xi64>
  %1 = dfg.gather %table, %j : tensor<100x8xf32>, tensor<2xi64>
  %2 = dfg.floor %1 : tensor<2x8xf32>
  %3 = dfg.sum %0 : tensor<3x8xf32>
  %4 = dfg.sum %2 : tensor<2x8xf32>
  %5 = dfg.mul %3, %4 : tensor<f32>, tensor<f32>
  %6:2 = dfg.gradients %5, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<100x8xf32>) -> (tensor<5xi64>, tensor<5x8xf32>)
  dfg.return %6#0, %6#1 : tensor<5xi64>, tensor<5x8xf32>
}
