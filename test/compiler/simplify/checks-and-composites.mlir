// Operations that can fail get a check; composites are decomposed.
// RUN: tfc-opt --tfc-insert-checks %s | FileCheck %s --check-prefix=CHECKS
// RUN: tfc-opt --tfc-decompose-composites %s | FileCheck %s --check-prefix=PARTS

// CHECKS: %[[MAX:.*]] = dfg.max
// CHECKS: %[[I:.*]] = dfg.add %[[MAX]],
// CHECKS: %[[INDEX:.*]] = dfg.cast %[[I]]
// CHECKS: %[[OK:.*]] = dfg.logical_and
// CHECKS: dfg.check %[[OK]], "'gather' at checks-and-composites.mlir:{{[0-9]+}} got index %lld of axis 0 of f32[100, 8]"(%[[INDEX]] : tensor<i64>) :
// CHECKS-NEXT: dfg.gather
// PARTS: dfg.gather
// PARTS-NOT: dfg.softmax
// PARTS: dfg.exp
dfg.entry @f(%x: tensor<100x8xf32>, %i: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = dfg.gather %x, %i : tensor<100x8xf32>, tensor<3xi32>
  %1 = dfg.softmax %0 : tensor<3x8xf32>
  dfg.return %1 : tensor<3x8xf32>
}

// A check says which status a call returns that it fails.
// CHECKS-LABEL: dfg.entry @statuses
// CHECKS: dfg.check %{{.*}}, "'floordiv' at checks-and-composites.mlir:{{[0-9]+}} divides an integer by 0", invalid_argument :
// CHECKS: dfg.check %{{.*}}, "'ensure' at checks-and-composites.mlir:{{[0-9]+}} expects f32[n], but got f32[m]: n is %lld, m is %lld"(%{{.*}}), failed_precondition :
// CHECKS: dfg.check %{{.*}}, "'slice' at checks-and-composites.mlir:{{[0-9]+}} reaches outside of f32[m]: n is %lld, m is %lld"(%{{.*}}) :
dfg.entry @statuses(%i: tensor<3xi32>, %x: tensor<?xf32, #dfg.dims<m>>)
    -> (tensor<3xi32>, tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<n>>)
    attributes {symbols = ["m", "n"]} {
  %0 = dfg.floordiv %i, %i : tensor<3xi32>, tensor<3xi32>
  %1 = dfg.slice %x {starts = #dfg.dims<"n - m">, sizes = #dfg.dims<n>} : tensor<?xf32, #dfg.dims<m>>
  %2 = dfg.slice %x {starts = #dfg.dims<0>, sizes = #dfg.dims<n>} : tensor<?xf32, #dfg.dims<m>>
  dfg.return %0, %1, %2 : tensor<3xi32>, tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<n>>
}
