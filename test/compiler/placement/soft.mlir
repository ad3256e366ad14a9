// With `soft`, operations for whose device there are no kernels are on the default device.
// RUN: tfc-opt %s --tfc-place="soft=true device=cpu:1" --verify-diagnostics | FileCheck %s

// CHECK-LABEL: dfg.entry @f
dfg.entry @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dfg.neg {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
  // expected-warning @+1 {{there is no device /device:tpu:0: expected the kind 'cpu' or 'gpu', but got 'tpu': this is on /job:local/task:0/device:cpu:1 instead [bad-device]}}
  %0 = dfg.neg %x {dfg.device = #dfg.device<"/device:tpu:0">} : tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
