// What can fail gets a check; a composite becomes its parts.
// RUN: tfc-opt --tfc-insert-checks %s | FileCheck %s --check-prefix=CHECKS
// RUN: tfc-opt --tfc-decompose-composites %s | FileCheck %s --check-prefix=PARTS

// CHECKS: %[[OK:.*]] = dfg.all
// CHECKS: dfg.check %[[OK]], "'gather' got an index outside of f32[100, 8]"
// CHECKS-NEXT: dfg.gather
// PARTS: dfg.gather
// PARTS-NOT: dfg.softmax
// PARTS: dfg.exp
dfg.entry @f(%x: tensor<100x8xf32>, %i: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = dfg.gather %x, %i : tensor<100x8xf32>, tensor<3xi32>
  %1 = dfg.softmax %0 : tensor<3x8xf32>
  dfg.return %1 : tensor<3x8xf32>
}
