// A slice of whole heads of a transposed product is taken before the heads are joined, so that no reshape needs the
// transpose in memory. A slice that divides heads, and one of what is in memory, stay as they are.
// RUN: tfc-opt --tfc-simplify-algebra %s | FileCheck %s

// CHECK-LABEL: dfg.entry @heads
// CHECK-NOT: 8x18x128x64
// CHECK: dfg.slice %{{.*}} {sizes = #dfg.dims<8, {{.*}}, starts = #dfg.dims<0, {{.*}}>}
// CHECK-NOT: 8x18x128x64
// CHECK: dfg.return %{{.*}} : tensor<8x6x128x64xf32>
dfg.entry @heads(%x: tensor<8x128x3x6x64xf32>) -> tensor<8x6x128x64xf32> {
  %0 = dfg.transpose %x {permutation = array<i64: 0, 2, 3, 1, 4>} : tensor<8x128x3x6x64xf32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<8, 18, 128, 64>} : tensor<8x3x6x128x64xf32>
  %2 = dfg.slice %1 {starts = #dfg.dims<0, 6, 0, 0>, sizes = #dfg.dims<8, 6, 128, 64>} : tensor<8x18x128x64xf32>
  dfg.return %2 : tensor<8x6x128x64xf32>
}

// CHECK-LABEL: dfg.entry @divided
// CHECK: dfg.slice %{{.*}} {sizes = #dfg.dims<8, 6, 128, 64>, starts = #dfg.dims<0, 5, 0, 0>} : tensor<8x18x128x64xf32>
dfg.entry @divided(%x: tensor<8x128x3x6x64xf32>) -> tensor<8x6x128x64xf32> {
  %0 = dfg.transpose %x {permutation = array<i64: 0, 2, 3, 1, 4>} : tensor<8x128x3x6x64xf32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<8, 18, 128, 64>} : tensor<8x3x6x128x64xf32>
  %2 = dfg.slice %1 {starts = #dfg.dims<0, 5, 0, 0>, sizes = #dfg.dims<8, 6, 128, 64>} : tensor<8x18x128x64xf32>
  dfg.return %2 : tensor<8x6x128x64xf32>
}

// CHECK-LABEL: dfg.entry @stored
// CHECK: %[[JOINED:.*]] = dfg.reshape
// CHECK-NEXT: dfg.slice %[[JOINED]] {{.*}} : tensor<8x18x128x64xf32>
dfg.entry @stored(%x: tensor<8x3x6x128x64xf32>) -> tensor<8x6x128x64xf32> {
  %0 = dfg.reshape %x {shape = #dfg.dims<8, 18, 128, 64>} : tensor<8x3x6x128x64xf32>
  %1 = dfg.slice %0 {starts = #dfg.dims<0, 6, 0, 0>, sizes = #dfg.dims<8, 6, 128, 64>} : tensor<8x18x128x64xf32>
  dfg.return %1 : tensor<8x6x128x64xf32>
}
