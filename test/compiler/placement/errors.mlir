// Operations that share state are on one device.
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --tfc-place

// expected-note @+1 {{this is on /task:1}}
dfg.variable @w : tensor<f32> {dfg.device = #dfg.device<"/task:1">}
// expected-error @+1 {{variable 'v' cannot be on /task:2, because it is on the same device as variable 'w' [placement]}}
dfg.variable @v : tensor<f32> {dfg.colocate = [@w], dfg.device = #dfg.device<"/task:2">}

// -----

// expected-note @+1 {{this is on /device:cpu:1}}
dfg.variable @w : tensor<f32> {dfg.device = #dfg.device<"/device:cpu:1">}
dfg.entry @near(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'neg' cannot be on /device:cpu:2, because it is on the same device as variable 'w' [placement]}}
  %0 = dfg.neg %arg0 {dfg.colocate = [@w], dfg.device = #dfg.device<"/device:cpu:2">} : tensor<f32>
  dfg.return %0 : tensor<f32>
}

// -----

// Notes show what joins the two sides.
// expected-note @+1 {{this is on /device:cpu:1}}
dfg.variable @w : tensor<f32> {dfg.device = #dfg.device<"/device:cpu:1">}
dfg.variable @u : tensor<f32>
// expected-error @+1 {{variable 'v' cannot be on /device:cpu:2, because it is on the same device as variable 'w' [placement]}}
dfg.variable @v : tensor<f32> {dfg.device = #dfg.device<"/device:cpu:2">}
dfg.entry @joined(%arg0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @+1 {{this is on the same device as variable 'u' and variable 'w'}}
  %0 = dfg.tanh %arg0 {dfg.colocate = [@w, @u]} : tensor<f32>
  // expected-note @+1 {{this is on the same device as variable 'v' and variable 'u'}}
  %1 = dfg.neg %arg0 {dfg.colocate = [@u, @v]} : tensor<f32>
  dfg.return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

dfg.entry @missing(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{there is no variable and no queue 'w' with which to colocate this [placement]}}
  %0 = dfg.neg %arg0 {dfg.colocate = [@w]} : tensor<f32>
  dfg.return %0 : tensor<f32>
}

// -----

dfg.entry @elsewhere(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{there is no device /device:tpu:0: expected the kind 'cpu' or 'gpu', but got 'tpu' [bad-device]}}
  %0 = dfg.neg %arg0 {dfg.device = #dfg.device<"/device:tpu:0">} : tensor<f32>
  // expected-note @+1 {{this asks for it, too}}
  %1 = dfg.neg %0 {dfg.device = #dfg.device<"/device:tpu:0">} : tensor<f32>
  // expected-error @+1 {{there is no task /task:1 without a cluster, as in --cluster worker=2 [bad-device]}}
  %2 = dfg.neg %1 {dfg.device = #dfg.device<"/task:1">} : tensor<f32>
  dfg.return %2 : tensor<f32>
}

// -----

dfg.entry @constant() -> tensor<f32> {
  // expected-error @+1 {{has an invalid attribute 'dfg.device'}}
  %0 = dfg.constant {dfg.device = #dfg.device<"/device:cpu:0">} dense<1.0> : tensor<f32>
  dfg.return %0 : tensor<f32>
}

// -----

dfg.entry @name(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{expects the name of a device as in '/job:a/task:0/device:cpu:0', but got 'cpu:0'}}
  %0 = dfg.neg %arg0 {dfg.device = #dfg.device<"cpu:0">} : tensor<f32>
  dfg.return %0 : tensor<f32>
}

// -----

// The operations on a list are on one device, within a branch too.
dfg.entry @list(%n: tensor<i32>, %p: tensor<i1>, %x: tensor<4xf32>) -> tensor<i32> {
  // expected-note @+1 {{this is on /task:1}}
  %l = dfg.list_create %n {shape = #dfg.dims<4>, dfg.device = #dfg.device<"/task:1">} : tensor<i32>
  %m = dfg.if %p : tensor<i1> -> !dfg.list<tensor<4xf32>> {
    // expected-error @+1 {{'list_write' cannot be on /task:2, because it is on the same device as 'list_create' [placement]}}
    %0 = dfg.list_write %l, %n, %x {dfg.device = #dfg.device<"/task:2">} : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    dfg.yield %0 : !dfg.list<tensor<4xf32>>
  } else {
    dfg.yield %l : !dfg.list<tensor<4xf32>>
  }
  %s = dfg.list_size %m : !dfg.list<tensor<4xf32>>
  dfg.return %s : tensor<i32>
}

// -----

// Colocation joins two variables.
// expected-note @+1 {{this is on /device:cpu:0}}
dfg.variable @w : tensor<f32> {dfg.device = #dfg.device<"/device:cpu:0">}
// expected-error @+1 {{variable 'v' cannot be on /device:cpu:1, because it is on the same device as variable 'w' [placement]}}
dfg.variable @v : tensor<f32> {dfg.device = #dfg.device<"/device:cpu:1">}
// expected-note @+1 {{this is on the same device as variable 'v' and variable 'w'}}
dfg.variable @u : tensor<f32> {dfg.colocate = [@w, @v]}
