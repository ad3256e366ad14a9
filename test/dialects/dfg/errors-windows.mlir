// Windows, convolutions and pooling refuse windows that do not fit, and operands that do not match.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' expects sizes for axes after the first of f32[4, 8], but got 2 [rank]}}
  %y = dfg.windows %x {size = #dfg.dims<2, 2>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' expects 1 numbers in count, one for each in size, but got 2 [window]}}
  %y = dfg.windows %x {size = #dfg.dims<2>, count = #dfg.dims<2, 2>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' has windows that reach over 9 elements, but axis 1 of f32[4, 8] has 8 with its padding [window]}}
  %y = dfg.windows %x {size = #dfg.dims<3>, count = #dfg.dims<4>, stride = array<i64: 2>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' expects windows of at least one element, but got 0 [window]}}
  %y = dfg.windows %x {size = #dfg.dims<0>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' expects 1 numbers in low, one for each in size, but got 2 [window]}}
  %y = dfg.windows %x {size = #dfg.dims<2>, count = #dfg.dims<9>, low = #dfg.dims<1, 1>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'windows' expects count where it has low [window]}}
  %y = dfg.windows %x {size = #dfg.dims<2>, low = #dfg.dims<1>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'place_windows' expects two axes after the first of f32[4, 8] for each size in shape, but got 1 [rank]}}
  %y = dfg.place_windows %x {shape = #dfg.dims<8>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'place_windows' expects sizes that are not negative, but got -8 [size]}}
  %y = dfg.place_windows %x {shape = #dfg.dims<-8>} : tensor<4x8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'place_windows' expects 1 numbers in low, one for each in shape, but got 2 [window]}}
  %y = dfg.place_windows %x {shape = #dfg.dims<9>, low = #dfg.dims<1, 1>} : tensor<4x8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'place_windows' expects dilation of at least 1, but got 0 [window]}}
  %y = dfg.place_windows %x {shape = #dfg.dims<9>, dilation = array<i64: 0>} : tensor<4x8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf64>) {
  // expected-error @+1 {{'contract' expects operands of one dtype, but got f32[4, 8] and f64[8, 2] [dtype]}}
  %z = dfg.contract %x, %y {labels = "i j, j k -> i k"} : tensor<4x8xf32>, tensor<8x2xf64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) {
  // expected-error @+1 {{'contract' expects one size for 'i', but got 4 and 8 [unequal-dimensions]}}
  %z = dfg.contract %x, %y {labels = "i j, i k -> j k"} : tensor<4x8xf32>, tensor<8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+1 {{'contract': 'i' occurs twice in 'i i' [einsum-label]}}
  %z = dfg.contract %x, %y {labels = "i i, i k -> k"} : tensor<4x4xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x3xf32>, %w: tensor<3x3x3xf32>) {
  // expected-error @+1 {{'convolution' expects two tensors of one rank, at least 3, but got f32[4, 8, 8, 3] and f32[3, 3, 3] [rank]}}
  %y = dfg.convolution %x, %w : tensor<4x8x8x3xf32>, tensor<3x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x3xf32>, %w: tensor<3x2x6xf32>) {
  // expected-error @+1 {{'convolution' expects a kernel for 3 channels in 1 group, but got f32[3, 2, 6] for f32[4, 8, 3] [inner-dimensions]}}
  %y = dfg.convolution %x, %w : tensor<4x8x3xf32>, tensor<3x2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x4xf32>, %w: tensor<3x2x5xf32>) {
  // expected-error @+1 {{'convolution' expects features that can be cut into 2 groups, but got 5 [window]}}
  %y = dfg.convolution %x, %w {groups = 2 : i64} : tensor<4x8x4xf32>, tensor<3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x4xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects groups of at least 1, but got 0 [window]}}
  %y = dfg.convolution %x, %w {groups = 0 : i64} : tensor<4x8x4xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2x4xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution' has windows that reach over 5 elements, but axis 1 of f32[4, 2, 4] has 4 with its padding [window]}}
  %y = dfg.convolution %x, %w {dilation = array<i64: 2>, pads = array<i64: 1>} : tensor<4x2x4xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects one stride or 2, one for each axis of its windows, but got 3 [window]}}
  %y = dfg.convolution %x, %w {stride = array<i64: 1, 2, 1>} : tensor<4x8x8x4xf32>, tensor<3x3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects stride of at least 1, but got 0 [window]}}
  %y = dfg.convolution %x, %w {stride = array<i64: 1, 0>} : tensor<4x8x8x4xf32>, tensor<3x3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects either padding or pads [attribute]}}
  %y = dfg.convolution %x, %w {padding = #dfg.padding<same>, pads = array<i64: 1>} : tensor<4x8x8x4xf32>, tensor<3x3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects one number in pads, 2, or 4, before and after each axis, but got 3 [window]}}
  %y = dfg.convolution %x, %w {pads = array<i64: 1, 1, 1>} : tensor<4x8x8x4xf32>, tensor<3x3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) {
  // expected-error @+1 {{'convolution' expects pads of at least 0, but got -1 [window]}}
  %y = dfg.convolution %x, %w {pads = array<i64: 1, -1>} : tensor<4x8x8x4xf32>, tensor<3x3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4x6xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution_transpose' expects a kernel for 6 features, but got f32[3, 4, 5] for f32[4, 4, 6] [inner-dimensions]}}
  %y = dfg.convolution_transpose %x, %w : tensor<4x4x6xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4x5xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution_transpose' expects 5 elements along axis 1, one for each window, but got f32[4, 4, 5] [unequal-dimensions]}}
  %y = dfg.convolution_transpose %x, %w {sizes = #dfg.dims<9>, stride = array<i64: 2>, padding = #dfg.padding<same>} : tensor<4x4x5xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4x5xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution_transpose' expects 1 sizes, one for each axis of windows of f32[4, 4, 5], but got 2 [rank]}}
  %y = dfg.convolution_transpose %x, %w {sizes = #dfg.dims<9, 9>} : tensor<4x4x5xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4x5xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution_transpose' expects either sizes or output_padding [attribute]}}
  %y = dfg.convolution_transpose %x, %w {sizes = #dfg.dims<6>, output_padding = array<i64: 0>} : tensor<4x4x5xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x1x5xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'convolution_transpose' expects sizes that are not negative, but got -1 for axis 1 [size]}}
  %y = dfg.convolution_transpose %x, %w {pads = array<i64: 2>} : tensor<4x1x5xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x3xf32>, %g: tensor<5x6x2xf32>) {
  // expected-error @+1 {{'convolution_weights' expects as many outputs as images, but got f32[4, 8, 3] and f32[5, 6, 2] [unequal-dimensions]}}
  %y = dfg.convolution_weights %x, %g {size = #dfg.dims<3>} : tensor<4x8x3xf32>, tensor<5x6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x3xf32>, %g: tensor<4x6x2xf32>) {
  // expected-error @+1 {{'convolution_weights' expects 1 numbers in size, one for each axis of windows of f32[4, 8, 3], but got 2 [rank]}}
  %y = dfg.convolution_weights %x, %g {size = #dfg.dims<3, 3>} : tensor<4x8x3xf32>, tensor<4x6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x3xf32>, %g: tensor<4x6x2xf32>) {
  // expected-error @+1 {{'convolution_weights' expects 7 elements along axis 1, one for each window, but got f32[4, 6, 2] [unequal-dimensions]}}
  %y = dfg.convolution_weights %x, %g {size = #dfg.dims<2>} : tensor<4x8x3xf32>, tensor<4x6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'max_pool' expects a tensor of rank 3 or more, but got f32[4, 8] [rank]}}
  %y = dfg.max_pool %x {size = array<i64: 2>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'max_pool' expects size of at least 1, but got 0 [window]}}
  %y = dfg.max_pool %x {size = array<i64: 0>} : tensor<4x8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'max_pool_with_indices' returns i32 or i64, but got dtype f32 [dtype]}}
  %y, %i = dfg.max_pool_with_indices %x {size = array<i64: 2>, dtype = f32} : tensor<4x8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x2xi32>) {
  // expected-error @+1 {{'avg_pool' expects a floating-point tensor, but got i32[4, 8, 2] [dtype]}}
  %y = dfg.avg_pool %x {size = array<i64: 2>} : tensor<4x8x2xi32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'local_response_norm' expects a tensor with an axis of channels, but got f32 [rank]}}
  %y = dfg.local_response_norm %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'local_response_norm' expects a radius of at least 0, but got -1 [window]}}
  %y = dfg.local_response_norm %x {radius = -1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x9x2xi32>) {
  // expected-error @+1 {{'windows' expects 'value' to be a value of i32, but got 0.5 [literal-type]}}
  %y = dfg.windows %x {size = #dfg.dims<3>, count = #dfg.dims<9>, low = #dfg.dims<1>, value = 0.5 : f64} : tensor<4x9x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x4x3x2xui8>) {
  // expected-error @+1 {{'place_windows' expects 'value' to be a value of u8, but got -1 [number-range]}}
  %y = dfg.place_windows %x {shape = #dfg.dims<9>, stride = array<i64: 2>, value = -1.0 : f64} : tensor<4x4x3x2xui8>
  return
}
