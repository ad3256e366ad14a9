// With `trace`, the run function records when launches, messages and waits begin and end, but nothing of other steps;
// without, it is the same as ever. A launch has the arithmetic of its kernel, and the bytes that it accesses: here 8, of
// which 4 are those of a feed.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host=trace %s | FileCheck %s
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s --check-prefix=PLAIN --implicit-check-not=rt.trace
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host=trace --tfc-lower-rt %s | FileCheck %s --check-prefix=LOWERED

// CHECK: llvm.func @tfc_entry_0_run(%[[FRAME:.*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[FLOPS:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 8 : i64
// CHECK-DAG: %[[HELD:.*]] = arith.constant 4 : i64
// CHECK: %[[BEGIN:.*]] = rt.trace_begin
// CHECK: rt.launch %[[FRAME]], @one
// CHECK: rt.trace_end %[[FRAME]], %[[BEGIN]], kernel slot -1 "one\0Amodel.graph:7, model.graph:9" flops %[[FLOPS]] bytes %[[BYTES]] held %[[HELD]]
// CHECK: %[[WAIT:.*]] = rt.trace_begin
// CHECK: rt.enqueue
// CHECK: rt.trace_end %[[FRAME]], %[[WAIT]], wait slot -1 "enqueue
// CHECK-NOT: rt.trace
// CHECK: llvm.return
// PLAIN: rt.launch
// LOWERED: %[[TIME:.*]] = llvm.call @tfc_rt_trace_begin() : () -> i64
// LOWERED: llvm.call @one
// LOWERED: llvm.call @tfc_rt_trace_end(%{{.*}}, %[[TIME]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i32, i32, !llvm.ptr, i64, i64, i64) -> ()
dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 4 : i64}
dfg.entry @run(%x: tensor<f32>) -> tensor<f32> {
  %0 = dfg.launch @one(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<f32>) -> tensor<f32> loc(#both)
  dfg.enqueue @q(%x) : tensor<f32>
  dfg.return %0 : tensor<f32>
}

llvm.func @one(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>,
     kernel.work = affine_map<() -> (16, 4, 4)>}

#both = loc(fused["model.graph":7:3, "model.graph":9:3, "model.graph":7:9])
