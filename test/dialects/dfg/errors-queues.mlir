// Queues that could not work, and values that do not match a queue, are refused.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{expects tensors of static shapes}}
dfg.queue @q : [tensor<?xf32, #dfg.dims<n>>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}

// -----

// expected-error @+1 {{expects one name per component}}
dfg.queue @q : [tensor<f32>, tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}

// -----

// expected-error @+1 {{expects an i64 as the first component of a priority queue}}
dfg.queue @q : [tensor<i32>] {names = ["x"], kind = #dfg.queue<priority>, capacity = 8 : i64}

// -----

// expected-error @+1 {{expects a capacity of at least 1, but got 0}}
dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 0 : i64}

// -----

// expected-error @+1 {{expects to keep back from 0 to 8 elements, but got 9}}
dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<shuffle>, capacity = 8 : i64, min_ready = 9 : i64}

// -----

dfg.entry @f() {
  // expected-error @+1 {{expects the name of a queue, but got @q}}
  %x = dfg.dequeue @q : tensor<f32>
  dfg.return
}

// -----

dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f(%x: tensor<f32>) {
  // expected-error @+1 {{expects 1 values for @q, but got 2}}
  dfg.enqueue @q(%x, %x) : tensor<f32>, tensor<f32>
  dfg.return
}

// -----

dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f() {
  // expected-error @+1 {{expects f32[4] for @q, but got f32[3]}}
  %x = dfg.dequeue_many @q {count = #dfg.dims<4>} : tensor<3xf32>
  dfg.return
}

// -----

dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f() {
  // expected-error @+1 {{expects one size for count}}
  %x = dfg.dequeue_many @q {count = #dfg.dims<4, 4>} : tensor<4xf32>
  dfg.return
}

// -----

dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f() {
  // expected-error @+1 {{expects the number of elements, i32, as its first result}}
  %n, %x = dfg.dequeue_up_to @q {count = #dfg.dims<4>} : tensor<i64>, tensor<4xf32>
  dfg.return
}

// -----

dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.entry @f() {
  // expected-error @+1 {{expects a result of type i32}}
  %n = dfg.queue_size @q : tensor<i64>
  dfg.return
}

// -----

dfg.entry @f() {
  // expected-error @+1 {{expects the name of a queue, but got @q}}
  dfg.queue_close @q
  dfg.return
}
