// Every value that a kernel returns is computed by a structured operation of its own, in generic form.
// RUN: tfc-opt --tfc-prepare-kernels %s | FileCheck %s
// RUN: tfc-opt --tfc-prepare-kernels --tfc-prepare-kernels %s | FileCheck %s

// CHECK-LABEL: kernel.func @named
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: kernel.return %[[SUM]]
kernel.func @named(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}

// An argument is copied, and so is the second of two equal results.
// CHECK-LABEL: kernel.func @copies
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK-NOT: linalg.generic
// CHECK: kernel.return %[[A]], %[[B]]
kernel.func @copies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  kernel.return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// A cast is no structured operation: the result keeps its dynamic type.
// CHECK-LABEL: kernel.func @cast
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>)
// CHECK: kernel.return %[[COPY]] : tensor<?xf32>
kernel.func @cast(%n: index, %x: tensor<4xf32>) -> (tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>}) {
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  kernel.return %0 : tensor<?xf32>
}
