// An operation on a queue is a call of the runtime with the queue's number, the addresses of the
// values in an array, and the number of elements; what is not 0 ends the entry's call.
// RUN: tfc-opt --tfc-plan-memory --tfc-emit-host %s | FileCheck %s

dfg.queue @first : [tensor<4xf32>, tensor<i32>] {names = ["x", "y"], kind = "fifo", capacity = 8 : i64}
dfg.queue @second : [tensor<i64>] {names = ["k"], kind = "priority", capacity = 8 : i64}

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_enqueue(%{{.*}}, %{{.*}}, %[[LIST:.*]], %[[ONE]], %{{.*}})
// CHECK: llvm.cond_br
// CHECK: llvm.return %[[STATUS]]
// CHECK: llvm.call @tfc_rt_enqueue(
dfg.entry @put(%x: tensor<4xf32>, %y: tensor<i32>, %k: tensor<?xi64, #dfg.dims<n>>)
    attributes {symbols = ["n"]} {
  dfg.enqueue @first(%x, %y) : tensor<4xf32>, tensor<i32>
  dfg.enqueue_many @second(%k) : tensor<?xi64, #dfg.dims<n>>
  dfg.return
}

// CHECK-LABEL: llvm.func @tfc_entry_1_run
// CHECK: llvm.call @tfc_rt_dequeue(
// CHECK: llvm.call @tfc_rt_dequeue(
// CHECK: llvm.call @tfc_rt_dequeue_up_to(
dfg.entry @take() -> (tensor<4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<3xi64>) {
  %x, %y = dfg.dequeue @first : tensor<4xf32>, tensor<i32>
  %xs, %ys = dfg.dequeue_many @first {count = #dfg.dims<2>} : tensor<2x4xf32>, tensor<2xi32>
  %number, %ks = dfg.dequeue_up_to @second {count = #dfg.dims<3>} : tensor<i32>, tensor<3xi64>
  dfg.return %x, %xs, %number, %ks : tensor<4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<3xi64>
}

// CHECK-LABEL: llvm.func @tfc_entry_2_run
// CHECK: %[[SIZE:.*]] = llvm.call @tfc_rt_queue_size(
// CHECK: llvm.store %[[SIZE]]
// CHECK: llvm.call @tfc_rt_queue_close(
dfg.entry @close() -> tensor<i32> {
  %size = dfg.queue_size @second : tensor<i32>
  dfg.queue_close @first {cancel_pending = true}
  dfg.return %size : tensor<i32>
}
