// Errors of entries on several devices, and of their messages.
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects @f.1 to be a partition of it}}
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  dfg.return
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// expected-error @+1 {{expects to be a partition of an entry, but @f does not name it}}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  dfg.return
}
// expected-error @+1 {{is a partition of @f and expects a device, no arguments and no results}}
dfg.entry @f.1(%x: tensor<f32>) -> () attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// expected-error @+1 {{has the slot #dfg.slot<0 to 2>, but expected two of its 2 partitions}}
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 2>]} {
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<f32>) -> () attributes {partitions = [@f.1], slots = []} {
  // expected-error @+1 {{expects a slot of @f}}
  dfg.send %x to slot 0 : tensor<f32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<f32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<1 to 0>]} {
  // expected-error @+1 {{is in partition 0, but slot 0 is #dfg.slot<1 to 0>}}
  dfg.send %x to slot 0 : tensor<f32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<f32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>]} {
  dfg.send %x to slot 0 : tensor<f32>
  // expected-error @+1 {{expects to be the only one for slot 0}}
  dfg.send %x to slot 0 : tensor<f32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// expected-error @+1 {{expects a 'dfg.send' and a 'dfg.receive' for slot 0}}
dfg.entry @f(%x: tensor<f32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>]} {
  dfg.send %x to slot 0 : tensor<f32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<f32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>]} {
  dfg.send %x to slot 0 : tensor<f32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  // expected-error @+1 {{receives 'tensor<4xf32>', but slot 0 has 'tensor<f32>'}}
  %0 = dfg.receive slot 0 : tensor<4xf32>
  dfg.return
}
}

// -----

dfg.entry @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'dfg.commit' op expects an entry with partitions}}
  dfg.commit
  dfg.return %x : tensor<4xf32>
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  dfg.return
}
// expected-error @+1 {{is on #dfg.device<"/job:local/task:0/device:cpu:0">, which is none of the devices of the module but the caller's}}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:0">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f() -> () attributes {partitions = [@f.1, @f.2], slots = []} {
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
// expected-error @+1 {{is on the device of another partition}}
dfg.entry @f.2() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.variable @v : tensor<4xf32>
dfg.entry @f() -> () attributes {partitions = [@f.1], slots = []} {
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  // expected-error @+1 {{is on #dfg.device<"/job:local/task:0/device:cpu:1">, but @v is not}}
  %0 = dfg.read @v : tensor<4xf32>
  dfg.return
}
}
