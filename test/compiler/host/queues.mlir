// An operation on a queue takes the queue's number, the addresses of the values and the number of
// elements; it is marked late if the entry has used a variable before.
// RUN: tfc-opt --tfc-plan-memory --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

dfg.queue @first : [tensor<4xf32>, tensor<i32>] {names = ["x", "y"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.queue @second : [tensor<i64>] {names = ["k"], kind = #dfg.queue<priority>, capacity = 8 : i64}

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[SYMBOLS:.*]] = rt.field %{{.*}}[symbols]
// CHECK-DAG: %[[N:.*]] = rt.element %[[SYMBOLS]][0] : i64
// CHECK: rt.enqueue %{{.*}}, queue 0(%{{.*}}, %{{.*}}) count %[[ONE]] for "'enqueue' at {{.*}}"
// CHECK: rt.enqueue %{{.*}}, queue 1(%{{.*}}) count %[[N]] for "{{.*}}"
dfg.entry @put(%x: tensor<4xf32>, %y: tensor<i32>, %k: tensor<?xi64, #dfg.dims<n>>)
    attributes {symbols = ["n"]} {
  dfg.enqueue @first(%x, %y) : tensor<4xf32>, tensor<i32>
  dfg.enqueue_many @second(%k) : tensor<?xi64, #dfg.dims<n>>
  dfg.return
}

// CHECK-LABEL: llvm.func @tfc_entry_1_run
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i64
// CHECK: rt.dequeue %{{.*}}, queue 0(%{{.*}}, %{{.*}}) count %[[ONE]]
// CHECK: rt.dequeue %{{.*}}, queue 0(%{{.*}}, %{{.*}}) count %[[TWO]]
// CHECK: rt.dequeue_up_to %{{.*}}, queue 1(%{{.*}}) count %[[THREE]] taken %{{.*}}
dfg.entry @take() -> (tensor<4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<3xi64>) {
  %x, %y = dfg.dequeue @first : tensor<4xf32>, tensor<i32>
  %xs, %ys = dfg.dequeue_many @first {count = #dfg.dims<2>} : tensor<2x4xf32>, tensor<2xi32>
  %number, %ks = dfg.dequeue_up_to @second {count = #dfg.dims<3>} : tensor<i32>, tensor<3xi64>
  dfg.return %x, %xs, %number, %ks : tensor<4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<3xi64>
}

// CHECK-LABEL: llvm.func @tfc_entry_2_run
// CHECK: %[[SIZE:.*]] = rt.queue_size %{{.*}}, queue 1
// CHECK: llvm.store %[[SIZE]]
// CHECK: rt.queue_close %{{.*}}, queue 0 cancel_pending
dfg.entry @close() -> tensor<i32> {
  %size = dfg.queue_size @second : tensor<i32>
  dfg.queue_close @first {cancel_pending = true}
  dfg.return %size : tensor<i32>
}

// CHECK-LABEL: llvm.func @tfc_entry_3_run
// CHECK-COUNT-2: rt.enqueue %{{.*}}, queue 1(%{{.*}}) count %{{[^ ]*}} for "{{.*}}"
// CHECK: rt.enqueue %{{.*}}, queue 1(%{{.*}}) count %{{.*}} late
dfg.variable @v : tensor<1xi64>
dfg.entry @late(%k: tensor<1xi64>) {
  dfg.enqueue_many @second(%k) : tensor<1xi64>
  %v = dfg.read @v : tensor<1xi64>
  dfg.enqueue_many @second(%v) : tensor<1xi64>
  dfg.enqueue_many @second(%k) : tensor<1xi64>
  dfg.return
}
