// Operations of rt become calls of the runtime; one that can end the call splits its block and
// branches to a block that returns the status.
// RUN: tfc-opt --tfc-lower-rt %s | FileCheck %s

llvm.func @kernel(i64, !llvm.ptr, i64, i64)
llvm.func @kernel.task(!llvm.ptr, i64, i64)

// CHECK-LABEL: llvm.func @frame
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[FRAME]][2]
// CHECK: %[[FEEDS:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[FEED:.*]] = llvm.getelementptr %[[FEEDS]][3]
// CHECK: %[[X:.*]] = llvm.load %[[FEED]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.return %[[X]]
llvm.func @frame(%frame: !llvm.ptr) -> !llvm.ptr {
  %feeds = rt.field %frame[feeds]
  %x = rt.element %feeds[3] : !llvm.ptr
  llvm.return %x : !llvm.ptr
}

// The values of a message are in an array at the start of the function.
// CHECK-LABEL: llvm.func @check
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[HOLDS:.*]]: i1
// CHECK: %[[ARRAY:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK: llvm.cond_br %[[HOLDS]] weights([1048576, 1]), ^[[FIRST:.*]], ^[[SHOW:.*]]
// CHECK: ^[[SHOW]]:
// CHECK: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.br ^[[FAIL:.*]](%[[FRAME]], %{{.*}}, %{{.*}}, %[[ARRAY]], %{{.*}} :
// CHECK: ^[[FIRST]]:
// CHECK-DAG: %[[NONE:.*]] = llvm.mlir.zero
// CHECK-DAG: %[[CODE:.*]] = llvm.mlir.constant(6 : i32)
// CHECK: llvm.cond_br %[[HOLDS]] weights([1048576, 1]), ^[[NEXT:.*]], ^[[FAIL]](%[[FRAME]], %[[CODE]], %{{.*}}, %[[NONE]], %{{.*}} :
// CHECK: ^[[NEXT]]:
// CHECK: llvm.call @kernel
// CHECK: llvm.return
// CHECK: ^[[FAIL]](%{{.*}}
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_fail
// CHECK: llvm.return %[[STATUS]]
llvm.func @check(%frame: !llvm.ptr, %n: i64, %holds: i1) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  rt.check %frame, %holds else out_of_range "%lld and %lld"(%n, %n)
  rt.check %frame, %holds else out_of_memory "none"
  rt.launch %frame, @kernel(%n, %frame) over %n : i64, !llvm.ptr
  llvm.return %ok : i32
}

// CHECK-LABEL: llvm.func @tasks
// CHECK: %[[ARRAY:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @kernel.task
// CHECK: %[[GRAIN:.*]] = llvm.mlir.constant(64 : i64)
// CHECK: llvm.call @tfc_rt_parallel_for(%{{.*}}, %[[TASK]], %[[ARRAY]], %{{.*}}, %[[GRAIN]])
llvm.func @tasks(%frame: !llvm.ptr, %n: i64) {
  rt.launch %frame, @kernel(%n, %frame) over %n grain 64 : i64, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @grow
// CHECK: %[[ROOM:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[ENOUGH:.*]] = llvm.icmp "sle" %{{.*}}, %[[ROOM]]
// CHECK: llvm.cond_br %[[ENOUGH]] weights([1048576, 1]), ^[[NEXT:.*]], ^[[GROW:.*]]
// CHECK: ^[[GROW]]:
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_grow
// CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br %[[OK]] weights([1048576, 1]), ^[[NEXT]], ^[[RETURN:.*]](%[[STATUS]] : i32)
// CHECK: ^[[NEXT]]:
// CHECK: llvm.getelementptr %{{.*}}[4]
// CHECK: "llvm.intr.memset"
// CHECK: ^[[RETURN]](%[[RETURNED:.*]]: i32):
// CHECK: llvm.return %[[RETURNED]]
llvm.func @grow(%frame: !llvm.ptr, %chunks: !llvm.ptr, %n: i64) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  %zero = llvm.mlir.constant(0 : i8) : i8
  rt.grow %frame, %chunks[2] to %n
  %data = rt.chunk %chunks[2]
  "llvm.intr.memset"(%data, %zero, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return %ok : i32
}

// CHECK-LABEL: llvm.func @propagate
// CHECK-SAME: %[[STATUS:.*]]: i32
// CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br %[[OK]] weights([1048576, 1]), ^[[NEXT:.*]], ^[[RETURN:.*]](%[[STATUS]] : i32)
// CHECK: ^[[RETURN]](%[[RETURNED:.*]]: i32):
// CHECK: llvm.return %[[RETURNED]]
llvm.func @propagate(%status: i32) -> i32 {
  rt.propagate %status
  llvm.return %status : i32
}

// CHECK-LABEL: llvm.func @queues
// CHECK: llvm.alloca
// CHECK: %[[LATE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[SUBJECT:.*]] = llvm.mlir.addressof @tfc_text_{{[0-9]+}}
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_enqueue(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[LATE]], %[[SUBJECT]])
// CHECK: llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br
// CHECK: llvm.call @tfc_rt_dequeue(
// CHECK: llvm.call @tfc_rt_dequeue_up_to(
// CHECK: %[[SIZE:.*]] = llvm.call @tfc_rt_queue_size(
// CHECK: %[[CANCEL:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @tfc_rt_queue_close(%{{.*}}, %{{.*}}, %[[CANCEL]])
// CHECK: llvm.return %[[SIZE]]
llvm.func @queues(%frame: !llvm.ptr, %n: i64) -> i32 {
  rt.enqueue %frame, queue 0(%frame) count %n late for "'use' at q.graph:3"
  rt.dequeue %frame, queue 1(%frame, %frame) count %n for "'use' at q.graph:3"
  rt.dequeue_up_to %frame, queue 1() count %n taken %frame for "'use' at q.graph:3"
  %size = rt.queue_size %frame, queue 0
  rt.queue_close %frame, queue 0 cancel_pending
  llvm.return %size : i32
}

// CHECK-DAG: llvm.func @tfc_rt_queue_close(!llvm.ptr, i32, i32)
// CHECK-DAG: "none\00"
