// Errors of the attributes in which placement writes its decisions.
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects whole names of devices, but got ["cpu:0"]}}
module attributes {dfg.devices = ["cpu:0"]} {}

// -----

// expected-error @+1 {{expects whole names of devices}}
module attributes {dfg.devices = [#dfg.device<"/device:cpu:0">]} {}

// -----

// expected-error @+1 {{expects /job:local/task:0/device:cpu:0 as the first device}}
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:1">]} {}

// -----

// expected-error @+1 {{has the device #dfg.device<"/job:local/task:0/device:cpu:0"> twice}}
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:0">]} {}

// -----

dfg.entry @f(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has an invalid attribute 'dfg.homes'}}
  %y = dfg.if %c : tensor<i1> -> tensor<4xf32> attributes {dfg.homes = []} {
    dfg.yield %x : tensor<4xf32>
  } else {
    dfg.yield %x : tensor<4xf32>
  }
  dfg.return %y : tensor<4xf32>
}
