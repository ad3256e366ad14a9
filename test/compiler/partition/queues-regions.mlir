// The order of a queue and of checks on another device is not kept within a branch.
// RUN: tfc-opt %s --tfc-partition --verify-diagnostics

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.entry @f(%p: tensor<i1>, %x: tensor<4xf32>) -> () {
  dfg.if %p : tensor<i1> {
    // expected-note @+1 {{this can fail}}
    dfg.check %p, "no" : tensor<i1>
    // expected-error @+1 {{this version of tfc cannot use a queue in a branch or loop in which something on another device can fail [not-yet]}}
    dfg.enqueue @q(%x) : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
}
