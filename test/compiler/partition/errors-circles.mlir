// Partitions that would wait for each other in a circle are found, whatever the circle consists of.
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --tfc-check-messages

// Each receives before it sends.
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<1 to 0>]} {
  // expected-error @+1 {{waits for itself, through other partitions}}
  %0 = dfg.receive slot 1 : tensor<4xf32>
  dfg.send %x to slot 0 : tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %0 = dfg.receive slot 0 : tensor<4xf32>
  dfg.send %0 to slot 1 : tensor<4xf32>
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// The same in a loop.
dfg.entry @f(%p: tensor<i1>, %x: tensor<4xf32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<1 to 0>, #dfg.slot<0 to 1>]} {
  dfg.send %p to slot 2 : tensor<i1>
  dfg.if %p : tensor<i1> {
    // expected-error @+1 {{waits for itself, through other partitions}}
    %0 = dfg.receive slot 1 : tensor<4xf32>
    dfg.send %x to slot 0 : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %p = dfg.receive slot 2 : tensor<i1>
  dfg.if %p : tensor<i1> {
    %0 = dfg.receive slot 0 : tensor<4xf32>
    dfg.send %0 to slot 1 : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// One waits for a release before the other's last reader can run.
dfg.entry @f(%x: tensor<4xf32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<0 to 1>]} {
  %0 = dfg.neg %x : tensor<4xf32>
  dfg.send %0 to slot 0 : tensor<4xf32>
  // expected-error @+1 {{waits for itself, through other partitions}}
  dfg.await_release %0 of slot 0 : tensor<4xf32>
  dfg.send %x to slot 1 : tensor<4xf32>
  dfg.return
}
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %0 = dfg.receive slot 0 : tensor<4xf32>
  %1 = dfg.receive slot 1 : tensor<4xf32>
  %2 = dfg.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = dfg.assign @v, %2 : tensor<4xf32>
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// One waits for a message that the other sends after the commit.
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = [#dfg.slot<1 to 0>]} {
  // expected-error @+1 {{waits for itself, through other partitions}}
  %0 = dfg.receive slot 0 : tensor<4xf32>
  dfg.commit
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %x = dfg.constant dense<0.0> : tensor<4xf32>
  dfg.commit
  dfg.send %x to slot 0 : tensor<4xf32>
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// The ends of a slot are not in the same branch.
dfg.entry @f(%p: tensor<i1>, %x: tensor<4xf32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>]} {
  dfg.if %p : tensor<i1> {
    // expected-note @+1 {{this sends to it}}
    dfg.send %x to slot 0 : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  // expected-error @+1 {{of slot 0 is not in the same branches and loops as its 'dfg.send'}}
  %0 = dfg.receive slot 0 : tensor<4xf32>
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// A commit that another partition does not have.
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  dfg.commit
  dfg.return
}
// expected-error @+1 {{has 0 commits, another partition has 1}}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// A commit that another partition has in a branch.
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  // expected-note @+1 {{this is the other one}}
  dfg.commit
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %p = dfg.constant dense<true> : tensor<i1>
  dfg.if %p : tensor<i1> {
    // expected-error @+1 {{is not in the same branches and loops as that of another partition}}
    dfg.commit
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
}
