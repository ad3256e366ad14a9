// The first factor of a large product that is in columns is copied into rows, which several products share. Small products,
// windows and second factors are read in place.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: transpose: transpose{{$}}
// CHECK-NEXT: matmul: transpose matmul{{$}}
// CHECK-NEXT: matmul: transpose matmul{{$}}
dfg.entry @gradients(%x: tensor<512x256xf32>, %g: tensor<512x384xf32>, %h: tensor<512x512xf32>) -> (tensor<256x384xf32>, tensor<256x512xf32>) {
  %0 = dfg.matmul %x, %g {transpose_lhs = true} : tensor<512x256xf32>, tensor<512x384xf32>
  %1 = dfg.matmul %x, %h {transpose_lhs = true} : tensor<512x256xf32>, tensor<512x512xf32>
  dfg.return %0, %1 : tensor<256x384xf32>, tensor<256x512xf32>
}

// All summed axes become the last ones, also of a factor that is named second.
// CHECK: transpose: transpose{{$}}
// CHECK-NEXT: contract: transpose contract{{$}}
dfg.entry @batch(%g: tensor<8x64x512xf32>, %x: tensor<8x64x256xf32>) -> tensor<256x512xf32> {
  %0 = dfg.contract %g, %x {labels = "b t n, b t m -> m n"} : tensor<8x64x512xf32>, tensor<8x64x256xf32>
  dfg.return %0 : tensor<256x512xf32>
}

// CHECK: matmul: matmul{{$}}
dfg.entry @few_columns(%x: tensor<512x256xf32>, %g: tensor<512x64xf32>) -> tensor<256x64xf32> {
  %0 = dfg.matmul %x, %g {transpose_lhs = true} : tensor<512x256xf32>, tensor<512x64xf32>
  dfg.return %0 : tensor<256x64xf32>
}

// CHECK: matmul: matmul{{$}}
dfg.entry @second(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = dfg.matmul %x, %w {transpose_rhs = true} : tensor<512x512xf32>, tensor<512x512xf32>
  dfg.return %0 : tensor<512x512xf32>
}

// CHECK: contract: windows contract{{$}}
dfg.entry @windows(%x: tensor<2x258x128xf32>, %g: tensor<2x256x512xf32>) -> tensor<3x128x512xf32> {
  %0 = dfg.windows %x {size = #dfg.dims<3>} : tensor<2x258x128xf32>
  %1 = dfg.contract %0, %g {labels = "n o k c, n o f -> k c f"} : tensor<2x256x3x128xf32>, tensor<2x256x512xf32>
  dfg.return %1 : tensor<3x128x512xf32>
}
