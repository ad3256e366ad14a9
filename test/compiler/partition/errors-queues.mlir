// Queues in an entry on several devices are refused.
// RUN: tfc-opt %s --tfc-partition --verify-diagnostics

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f(%x: tensor<4xf32>) -> () {
  %0 = dfg.neg %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  // expected-error @+1 {{this version of tfc cannot use queues in an entry on several devices, such as 'f' [not-yet]}}
  dfg.enqueue @q(%0) : tensor<4xf32>
  dfg.return
}
}
