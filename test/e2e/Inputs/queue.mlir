// Linear regression whose points come through a queue, and an entry for each operation.
module @feeding {
  dfg.queue @points : [tensor<3xf32>, tensor<f32>]
      {names = ["x", "y"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
  dfg.queue @shuffled : [tensor<i64>]
      {names = ["number"], kind = #dfg.queue<shuffle>, capacity = 8 : i64, min_ready = 2 : i64, seed = 3 : i64}
  dfg.queue @jobs : [tensor<i64>, tensor<2xi1>]
      {names = ["priority", "bits"], kind = #dfg.queue<priority>, capacity = 8 : i64}
  dfg.variable @w : tensor<3xf32>
  dfg.variable @steps : tensor<i64>

  dfg.entry @init() attributes {initializer} {
    %zero = dfg.constant dense<0.0> : tensor<3xf32>
    %none = dfg.constant dense<0> : tensor<i64>
    %0 = dfg.assign @w, %zero : tensor<3xf32>
    %1 = dfg.assign @steps, %none : tensor<i64>
    dfg.return
  }

  dfg.entry @produce(%x: tensor<?x3xf32, #dfg.dims<n, 3>> {dfg.name = "x"},
                     %y: tensor<?xf32, #dfg.dims<n>> {dfg.name = "y"})
      attributes {symbols = ["n"]} {
    dfg.enqueue_many @points(%x, %y)
        : tensor<?x3xf32, #dfg.dims<n, 3>>, tensor<?xf32, #dfg.dims<n>>
    dfg.return
  }

  dfg.entry @train() -> (tensor<f32> {dfg.name = "loss"}) {
    %steps = dfg.read @steps : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %next = dfg.add %steps, %one : tensor<i64>, tensor<i64>
    %0 = dfg.assign @steps, %next : tensor<i64>
    %w = dfg.read @w : tensor<3xf32>
    %x, %y = dfg.dequeue_many @points {count = #dfg.dims<4>} : tensor<4x3xf32>, tensor<4xf32>
    %product = dfg.mul %x, %w : tensor<4x3xf32>, tensor<3xf32>
    %value = dfg.sum %product {axis = array<i64: 1>} : tensor<4x3xf32>
    %error = dfg.sub %value, %y : tensor<4xf32>, tensor<4xf32>
    %square = dfg.mul %error, %error : tensor<4xf32>, tensor<4xf32>
    %loss = dfg.sum %square : tensor<4xf32>
    %g = dfg.gradients %loss, [%w] : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
    %rate = dfg.constant dense<0.05> : tensor<f32>
    %change = dfg.mul %g, %rate : tensor<3xf32>, tensor<f32>
    %new = dfg.sub %w, %change : tensor<3xf32>, tensor<3xf32>
    %1 = dfg.assign @w, %new : tensor<3xf32>
    dfg.return %loss : tensor<f32>
  }

  // The number that the queue gets is the counter's; it must be another one in each call.
  dfg.entry @ticket(%from: tensor<i64> {dfg.name = "from"}) {
    %steps = dfg.read @steps : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %next = dfg.add %steps, %one : tensor<i64>, tensor<i64>
    %0 = dfg.assign @steps, %next : tensor<i64>
    %number = dfg.add %next, %from : tensor<i64>, tensor<i64>
    dfg.enqueue @shuffled(%number) : tensor<i64>
    dfg.return
  }

  dfg.entry @draw() -> (tensor<i64> {dfg.name = "number"}) {
    %number = dfg.dequeue @shuffled : tensor<i64>
    dfg.return %number : tensor<i64>
  }

  dfg.entry @submit(%priority: tensor<i64> {dfg.name = "priority"},
                    %bits: tensor<2xi1> {dfg.name = "bits"})
      -> (tensor<i32> {dfg.name = "waiting"}) {
    dfg.enqueue @jobs(%priority, %bits) : tensor<i64>, tensor<2xi1>
    %size = dfg.queue_size @jobs : tensor<i32>
    dfg.return %size : tensor<i32>
  }

  dfg.entry @finish() -> (tensor<i32> {dfg.name = "number"}, tensor<4xi64> {dfg.name = "priority"},
                          tensor<4x2xi1> {dfg.name = "bits"}) {
    dfg.queue_close @jobs {cancel_pending = true}
    %number, %priority, %bits = dfg.dequeue_up_to @jobs {count = #dfg.dims<4>}
        : tensor<i32>, tensor<4xi64>, tensor<4x2xi1>
    dfg.return %number, %priority, %bits : tensor<i32>, tensor<4xi64>, tensor<4x2xi1>
  }

  // Puts in 0, 1, ... of a loop that are odd.
  dfg.entry @count(%n: tensor<i64> {dfg.name = "n"}) -> (tensor<i32> {dfg.name = "waiting"}) {
    %zero = dfg.constant dense<0> : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %two = dfg.constant dense<2> : tensor<i64>
    %none = dfg.constant dense<0> : tensor<i32>
    %i, %size = dfg.while (%zero, %none) : tensor<i64>, tensor<i32> {
    ^bb0(%j: tensor<i64>, %s: tensor<i32>):
      %more = dfg.less %j, %n : tensor<i64>, tensor<i64>
      dfg.condition %more : tensor<i1>
    } do {
    ^bb0(%j: tensor<i64>, %s: tensor<i32>):
      %rest = dfg.mod %j, %two : tensor<i64>, tensor<i64>
      %odd = dfg.equal %rest, %one : tensor<i64>, tensor<i64>
      %now = dfg.if %odd : tensor<i1> -> tensor<i32> {
        dfg.enqueue @shuffled(%j) : tensor<i64>
        %size = dfg.queue_size @shuffled : tensor<i32>
        dfg.yield %size : tensor<i32>
      } else {
        dfg.yield %s : tensor<i32>
      }
      %next = dfg.add %j, %one : tensor<i64>, tensor<i64>
      dfg.yield %next, %now : tensor<i64>, tensor<i32>
    }
    dfg.return %size : tensor<i32>
  }
}
