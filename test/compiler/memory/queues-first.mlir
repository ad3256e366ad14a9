// Launches that write variables run after operations on queues, because these can fail; so do launches
// that read variables, unless the operation depends on them, because other handles may change the
// variable during a wait. Checks that depend on no queue run before all operations on queues.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.queue @q : [tensor<64xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.variable @v : tensor<64xf32>
dfg.variable @w : tensor<64xf32>

// CHECK-LABEL: dfg.entry @train
// CHECK: dfg.launch @valid
// CHECK: dfg.check
// CHECK: dfg.dequeue @q
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @train(%x: tensor<64xf32>) -> tensor<64xf32> {
  %old = dfg.read @w : tensor<64xf32>
  %w = dfg.launch @next(%old) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %y = dfg.dequeue @q : tensor<64xf32>
  %valid = dfg.launch @valid(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<i1>
  dfg.check %valid, "x is invalid" : tensor<i1>
  %0 = dfg.assign @w, %w : tensor<64xf32>
  dfg.return %y : tensor<64xf32>
}

// A value that is put into a queue is never stored in a variable's memory.
// CHECK-LABEL: dfg.entry @put
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<arena>]
// CHECK: dfg.enqueue @q
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @put() {
  %v = dfg.read @v : tensor<64xf32>
  %w = dfg.read @w : tensor<64xf32>
  %newW = dfg.launch @next(%w) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %newV = dfg.launch @next(%v) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %0 = dfg.assign @w, %newW : tensor<64xf32>
  %1 = dfg.assign @v, %newV : tensor<64xf32>
  dfg.enqueue @q(%newV) : tensor<64xf32>
  dfg.return
}

kernel.func @next(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
kernel.func @valid(tensor<64xf32>) -> (tensor<i1> {kernel.may_share = array<i32>})
