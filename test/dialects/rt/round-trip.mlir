// Every operation and attribute of rt prints as it parses.
// RUN: tfc-opt %s | FileCheck %s

llvm.func @kernel(i64, !llvm.ptr, i64, i64)
llvm.func @kernel.task(!llvm.ptr, i64, i64)

// CHECK-LABEL: llvm.func @frame
// CHECK: %[[FEEDS:.*]] = rt.field %{{.*}}[feeds]
// CHECK: rt.element %[[FEEDS]][3] : !llvm.ptr
// CHECK: %[[SYMBOLS:.*]] = rt.field %{{.*}}[symbols]
// CHECK: rt.element %[[SYMBOLS]][0] : i64
llvm.func @frame(%frame: !llvm.ptr) -> i64 {
  %feeds = rt.field %frame[feeds]
  %x = rt.element %feeds[3] : !llvm.ptr
  %symbols = rt.field %frame[symbols]
  %n = rt.element %symbols[0] : i64
  llvm.return %n : i64
}

// CHECK-LABEL: llvm.func @run
// CHECK: rt.check %{{.*}}, %{{.*}} else out_of_range "no"
// CHECK: rt.check %{{.*}}, %{{.*}} else invalid_argument "n %% 4 == 0 does not hold: n is %lld"(%{{.*}})
// CHECK: rt.launch %{{.*}}, @kernel(%{{.*}}, %{{.*}}) over %{{.*}} : i64, !llvm.ptr
// CHECK: rt.launch %{{.*}}, @kernel(%{{.*}}, %{{.*}}) over %{{.*}} grain 4096 : i64, !llvm.ptr
// CHECK: %[[CHUNKS:.*]] = rt.field %{{.*}}[chunks]
// CHECK: rt.grow %{{.*}}, %[[CHUNKS]][2] to %{{.*}}
// CHECK: rt.chunk %[[CHUNKS]][2]
// CHECK: scf.if
// CHECK-NEXT: rt.enqueue %{{.*}}, queue 0(%{{.*}}, %{{.*}}) count %{{.*}} late for "'use' at q.graph:3"
// CHECK: rt.dequeue %{{.*}}, queue 1(%{{.*}}) count %{{.*}}
// CHECK: rt.dequeue_up_to %{{.*}}, queue 1(%{{.*}}) count %{{.*}} taken %{{.*}} late
// CHECK: rt.queue_size %{{.*}}, queue 0
// CHECK: rt.queue_close %{{.*}}, queue 0
// CHECK: rt.queue_close %{{.*}}, queue 0 cancel_pending
// CHECK: rt.check %{{.*}}, %{{.*}} else at[%{{.*}}, %{{.*}}] out_of_range "got %lld"(%{{.*}})
// CHECK: rt.send %{{.*}}, slot 1, %{{.*}} : !llvm.ptr
// CHECK: rt.next_buffer %{{.*}}, slot 1
// CHECK: rt.await_release %{{.*}}, slot 1
// CHECK: rt.receive %{{.*}}, slot 0 : i64
// CHECK: rt.release %{{.*}}, slot 0
// CHECK: rt.commit
// CHECK: rt.run_partitions
// CHECK: %[[BEGIN:.*]] = rt.trace_begin
// CHECK: rt.trace_end %{{.*}}, %[[BEGIN]], receive slot 2 "receive f32\0Am.graph:3" flops %[[BEGIN]] bytes %[[BEGIN]] held %[[BEGIN]]
llvm.func @run(%frame: !llvm.ptr, %x: !llvm.ptr, %n: i64, %holds: i1) -> i32 {
  rt.check %frame, %holds else out_of_range "no"
  rt.check %frame, %holds else invalid_argument "n %% 4 == 0 does not hold: n is %lld"(%n)
  rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
  rt.launch %frame, @kernel(%n, %x) over %n grain 4096 : i64, !llvm.ptr
  %chunks = rt.field %frame[chunks]
  rt.grow %frame, %chunks[2] to %n
  %data = rt.chunk %chunks[2]
  scf.if %holds {
    rt.enqueue %frame, queue 0(%x, %data) count %n late for "'use' at q.graph:3"
  }
  rt.dequeue %frame, queue 1(%x) count %n for "'use' at q.graph:3"
  rt.dequeue_up_to %frame, queue 1(%x) count %n taken %data late for "'use' at q.graph:3"
  %size = rt.queue_size %frame, queue 0
  rt.queue_close %frame, queue 0
  rt.queue_close %frame, queue 0 cancel_pending
  rt.check %frame, %holds else at[%n, %n] out_of_range "got %lld"(%n)
  rt.send %frame, slot 1, %x : !llvm.ptr
  %buffer = rt.next_buffer %frame, slot 1
  rt.await_release %frame, slot 1
  %bits = rt.receive %frame, slot 0 : i64
  rt.release %frame, slot 0
  rt.commit %frame
  rt.run_partitions %frame
  %begin = rt.trace_begin
  rt.trace_end %frame, %begin, receive slot 2 "receive f32\0Am.graph:3" flops %begin bytes %begin held %begin
  llvm.return %size : i32
}

// CHECK-LABEL: dfg.entry @memory
// CHECK-SAME: rt.arena = #rt.arena<[128, 3] of <1, "64 * n">>
// CHECK-SAME: rt.tapes = [@tape]
// CHECK: rt.memory = [#rt.slot<1, 2>], rt.scratch = #rt.slot<0, 64>
// CHECK: rt.memory = [#rt.chunk<1>]
dfg.tape @tape : tensor<4xf32>
dfg.entry @memory(%x: tensor<?xf32, #dfg.dims<n>>, %m: tensor<i32>)
    attributes {symbols = ["n"], rt.arena = #rt.arena<[128, 3] of <1, "64 * n">>, rt.tapes = [@tape]} {
  %y = dfg.launch @kernel(%x) {sizes = #dfg.dims<n>, rt.memory = [#rt.slot<1, 2>], rt.scratch = #rt.slot<0, 64>}
      : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  %l = dfg.list_create %m {shape = #dfg.dims<4>, rt.memory = [#rt.chunk<1>]} : tensor<i32>
  dfg.return
}

// CHECK-LABEL: llvm.func @device
// CHECK: rt.device_upload %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: rt.device_launch %{{.*}}, grid 3(%{{.*}}, %{{.*}}) threads %{{.*}} : i64, !llvm.ptr
// CHECK: rt.device_launch %{{.*}}, grid 0() threads %{{.*}}
// CHECK: rt.device_read %{{.*}}, %{{.*}} : f32
// CHECK: rt.device_write %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: rt.device_copy %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: rt.device_fill %{{.*}}, %{{.*}}, -1, %{{.*}}
// CHECK: rt.device_send %{{.*}}, slot 2, %{{.*}}, %{{.*}}
// CHECK: rt.device_constant %{{.*}}, 1
llvm.func @device(%frame: !llvm.ptr, %to: !llvm.ptr, %from: !llvm.ptr, %n: i64) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  rt.device_upload %frame, %to, %from, %n
  rt.device_launch %frame, grid 3(%n, %to) threads %n : i64, !llvm.ptr
  rt.device_launch %frame, grid 0() threads %n
  %x = rt.device_read %frame, %to : f32
  rt.device_write %frame, %to, %x : f32
  rt.device_copy %frame, %to, %from, %n
  rt.device_fill %frame, %to, -1, %n
  rt.device_send %frame, slot 2, %to, %n
  %w = rt.device_constant %frame, 1
  rt.device_copy %frame, %to, %w, %n
  llvm.return %ok : i32
}

// CHECK: module attributes {rt.copied_constants = [#rt.copied_constant<64, 16 on 1>], rt.variable_devices = array<i64: 0, 1>}
module attributes {rt.copied_constants = [#rt.copied_constant<64, 16 on 1>], rt.variable_devices = array<i64: 0, 1>} {
}
