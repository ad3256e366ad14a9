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

// A check has the status that a call returns if the check fails.
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

// The message names what the author called, not what a shipped file does; checked indices are not checked again.
// CHECKS-LABEL: dfg.entry @named
// CHECKS: dfg.check %{{.*}}, "'rows' at m.graph:7 got index %lld of axis 1 of f32[5, 8]"
// CHECKS-NOT: dfg.check %
// CHECKS: dfg.check %{{.*}}, "'check_indices' at checks-and-composites.mlir:{{[0-9]+}} got part %lld, but expects 0 to 7"
// CHECKS: dfg.return
// PARTS-LABEL: dfg.entry @named
// PARTS-NOT: dfg.check_indices
dfg.entry @named(%x: tensor<8xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0 = dfg.check_indices %i {shape = #dfg.dims<5, 8>, dtype = f32, axis = 1 : i64}
      : tensor<3xi32> loc(callsite("tfc/prelude.graph":3:1 at fused<"rows">["m.graph":7:3]))
  %1 = dfg.gather %x, %0 : tensor<8xf32>, tensor<3xi32>
  %2 = dfg.check_indices %i {shape = #dfg.dims<8>, what = "part"} : tensor<3xi32>
  dfg.return %1, %2 : tensor<3xf32>, tensor<3xi32>
}
