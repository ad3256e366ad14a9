// A variable that only gathers read has the touched rows as its gradient; those of two gathers are concatenated.
// RUN: tfc-opt --tfc-build-gradients --canonicalize %s | FileCheck %s

// CHECK-LABEL: dfg.entry @two_gathers
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<3xi32>, %[[J:[a-z0-9]+]]: tensor<2x2xi64>
// CHECK: %[[FLAT:.*]] = dfg.reshape %[[J]] {shape = #dfg.dims<4>}
// CHECK: %[[WIDE:.*]] = dfg.cast %[[I]] {dtype = i64}
// CHECK: dfg.concat {{.*}}: tensor<{{[34]}}xi64>, tensor<{{[34]}}xi64>
// CHECK: dfg.concat {{.*}}: tensor<{{[34]}}x8xf32>, tensor<{{[34]}}x8xf32>
dfg.entry @two_gathers(%table: tensor<100x8xf32>, %i: tensor<3xi32>, %j: tensor<2x2xi64>)
    -> (tensor<7xi64>, tensor<7x8xf32>) {
  %0 = dfg.gather %table, %i : tensor<100x8xf32>, tensor<3xi32>
  %1 = dfg.gather %table, %j : tensor<100x8xf32>, tensor<2x2xi64>
  %2 = dfg.sum %0 : tensor<3x8xf32>
  %3 = dfg.sum %1 : tensor<2x2x8xf32>
  %4 = dfg.mul %2, %3 : tensor<f32>, tensor<f32>
  %5:2 = dfg.gradients %4, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<100x8xf32>) -> (tensor<7xi64>, tensor<7x8xf32>)
  dfg.return %5#0, %5#1 : tensor<7xi64>, tensor<7x8xf32>
}

// The types count the rows of a gather that was removed since: zeros stand in their place, to be skipped.
// CHECK-LABEL: dfg.entry @removed_gather
// CHECK-DAG: %[[ZERO:.*]] = dfg.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[NONE:.*]] = dfg.constant dense<-1> : tensor<i64>
// CHECK: %[[PLACES:.*]] = dfg.broadcast %[[NONE]] {shape = #dfg.dims<3>}
// CHECK: dfg.concat %{{.*}}, %[[PLACES]] : tensor<2xi64>, tensor<3xi64>
// CHECK: %[[ROWS:.*]] = dfg.broadcast %[[ZERO]] {shape = #dfg.dims<3, 8>}
// CHECK: dfg.concat %{{.*}}, %[[ROWS]] : tensor<2x8xf32>, tensor<3x8xf32>
// CHECK: dfg.broadcast %[[NONE]] {shape = #dfg.dims<3>}
// CHECK: dfg.broadcast %[[ZERO]] {shape = #dfg.dims<3, 8>}
dfg.entry @removed_gather(%table: tensor<100x8xf32>, %other: tensor<100x8xf32>, %i: tensor<2xi64>)
    -> (tensor<5xi64>, tensor<5x8xf32>, tensor<3xi64>, tensor<3x8xf32>) {
  %0 = dfg.gather %table, %i : tensor<100x8xf32>, tensor<2xi64>
  %1 = dfg.sum %0 : tensor<2x8xf32>
  %2:4 = dfg.gradients %1, [%table, %other] {sparse = array<i64: 0, 1>}
      : (tensor<f32>, tensor<100x8xf32>, tensor<100x8xf32>)
      -> (tensor<5xi64>, tensor<5x8xf32>, tensor<3xi64>, tensor<3x8xf32>)
  dfg.return %2#0, %2#1, %2#2, %2#3 : tensor<5xi64>, tensor<5x8xf32>, tensor<3xi64>, tensor<3x8xf32>
}
