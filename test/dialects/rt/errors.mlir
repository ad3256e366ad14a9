// Operations that cannot become calls of the runtime are refused.
// RUN: tfc-opt --split-input-file --verify-diagnostics %s -o /dev/null

llvm.func @status(%frame: !llvm.ptr, %holds: i1) {
  // expected-error @+1 {{expects to be in a function that returns a status, an 'i32'}}
  rt.check %frame, %holds else out_of_range "no"
  llvm.return
}

// -----

func.func @statuses(%frame: !llvm.ptr, %n: i64) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects to be in a function that returns a status, an 'i32'}}
  rt.dequeue %frame, queue 0() count %n for "'use' at q.graph:3"
  return %zero, %zero : i32, i32
}

// -----

llvm.func @element(%feeds: !llvm.ptr) {
  // expected-error @+1 {{expects a number from 0 to 2147483646, but got -1}}
  %x = rt.element %feeds[-1] : !llvm.ptr
  llvm.return
}

// -----

llvm.func @element_type(%feeds: !llvm.ptr) {
  // expected-error @+1 {{result #0 must be pointer or 64-bit signless integer, but got 'f32'}}
  %x = rt.element %feeds[0] : f32
  llvm.return
}

// -----

llvm.func @field(%frame: !llvm.ptr) {
  // expected-error @+1 {{enum values for attribute 'field' [arena, feeds, fetches, variables, symbols, chunks, found]}}
  %x = rt.field %frame[handle]
  llvm.return
}

// -----

llvm.func @pointer(%frame: !llvm.ptr<3>) {
  // expected-error @+1 {{operand #0 must be pointer, but got '!llvm.ptr<3>'}}
  %x = "rt.field"(%frame) <{field = 1 : i32}> : (!llvm.ptr<3>) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @values(%frame: !llvm.ptr, %holds: i1, %n: i64) -> i32 {
  // expected-error @+1 {{expects at most 4 values, but got 5}}
  rt.check %frame, %holds else out_of_range "%lld%lld%lld%lld%lld"(%n, %n, %n, %n, %n)
  llvm.unreachable
}

// -----

llvm.func @format(%frame: !llvm.ptr, %holds: i1) -> i32 {
  // expected-error @+1 {{expects a format of text, '%lld' and '%%'}}
  rt.check %frame, %holds else out_of_range "%s"
  llvm.unreachable
}

// -----

llvm.func @end(%frame: !llvm.ptr, %holds: i1) -> i32 {
  // expected-error @+1 {{expects a format of text, '%lld' and '%%'}}
  rt.check %frame, %holds else out_of_range "a\00b"
  llvm.unreachable
}

// -----

llvm.func @shown(%frame: !llvm.ptr, %holds: i1, %n: i64) -> i32 {
  // expected-error @+1 {{expects as many values as its format shows, which are 2, but got 1}}
  rt.check %frame, %holds else out_of_range "%lld of 100%% or %lld"(%n)
  llvm.unreachable
}

// -----

llvm.func @grain(%frame: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects a grain of at least 1, but got 0}}
  rt.launch %frame, @kernel() over %n grain 0
  llvm.return
}

// -----

llvm.func @kernel(%frame: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects '@kernel_0' to be a function of generated code}}
  rt.launch %frame, @kernel_0() over %n
  llvm.return
}

// -----

llvm.func @kernel_0(i64, i64)
llvm.func @task(%frame: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects '@kernel_0.task' to be a function of generated code}}
  rt.launch %frame, @kernel_0() over %n grain 8
  llvm.return
}

// -----

llvm.func @kernel_0(i64, i64, i64)
llvm.func @arguments(%frame: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects '@kernel_0' to take ('!llvm.ptr', 'i64', 'i64') and to return nothing, but its type is '!llvm.func<void (i64, i64, i64)>'}}
  rt.launch %frame, @kernel_0(%frame) over %n : !llvm.ptr
  llvm.return
}

// -----

llvm.func @chunk(%chunks: !llvm.ptr) {
  // expected-error @+1 {{expects a chunk from 0 to 1048575, but got 1048576}}
  %x = rt.chunk %chunks[1048576]
  llvm.return
}

// -----

llvm.func @grow(%frame: !llvm.ptr, %chunks: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a chunk from 0 to 1048575, but got -1}}
  rt.grow %frame, %chunks[-1] to %n
  llvm.unreachable
}

// -----

llvm.func @enqueue(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a queue from 0 to 2147483646, but got -1}}
  rt.enqueue %frame, queue -1() count %n for "'use' at q.graph:3"
  llvm.unreachable
}

// -----

llvm.func @dequeue(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a queue from 0 to 2147483646, but got -2}}
  rt.dequeue %frame, queue -2() count %n for "'use' at q.graph:3"
  llvm.unreachable
}

// -----

llvm.func @dequeue_up_to(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a queue from 0 to 2147483646, but got -2}}
  rt.dequeue_up_to %frame, queue -2() count %n taken %frame for "'use' at q.graph:3"
  llvm.unreachable
}

// -----

llvm.func @queue_size(%frame: !llvm.ptr) {
  // expected-error @+1 {{expects a queue from 0 to 2147483646, but got -1}}
  %n = rt.queue_size %frame, queue -1
  llvm.return
}

// -----

llvm.func @queue_close(%frame: !llvm.ptr) {
  // expected-error @+1 {{expects a queue from 0 to 2147483646, but got -1}}
  rt.queue_close %frame, queue -1
  llvm.return
}

// -----

llvm.func @slot(%frame: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  // expected-error @+1 {{expects a slot from 0 to 2147483646, but got -1}}
  rt.send %frame, slot -1, %x : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

llvm.func @grid(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a grid from 0 to 2147483646, but got -1}}
  rt.device_launch %frame, grid -1() threads %n
  llvm.unreachable
}

// -----

llvm.func @wide(%frame: !llvm.ptr, %from: !llvm.ptr) -> i32 {
  // expected-error @+1 {{expects a scalar of whole bytes, 8 at most, but got 'i128'}}
  %x = rt.device_read %frame, %from : i128
  llvm.unreachable
}

// -----

llvm.func @bit(%frame: !llvm.ptr, %to: !llvm.ptr, %x: i1) -> i32 {
  // expected-error @+1 {{expects a scalar of whole bytes, 8 at most, but got 'i1'}}
  rt.device_write %frame, %to, %x : i1
  llvm.unreachable
}

// -----

llvm.func @device_slot(%frame: !llvm.ptr, %from: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a slot from 0 to 2147483646, but got -1}}
  rt.device_send %frame, slot -1, %from, %n
  llvm.unreachable
}

// -----

llvm.func @constant(%frame: !llvm.ptr) {
  // expected-error @+1 {{expects a constant from 0 to 2147483646, but got -1}}
  %w = rt.device_constant %frame, -1
  llvm.return
}

// -----

llvm.func @read_rows(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a dataset from 0 to 2147483646, but got -1}}
  rt.read_rows %frame, dataset -1() rows %frame count %n for "'use' at d.graph:3"
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

llvm.func @read_next(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects 'next' with its count}}
  "rt.read_rows"(%frame, %frame, %n, %frame) {dataset = 0 : i32, subject = "'use'", operandSegmentSizes = array<i32: 1, 0, 1, 1, 1, 0>} : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

llvm.func @dataset_size(%frame: !llvm.ptr) -> i32 {
  // expected-error @+1 {{expects a dataset from 0 to 2147483646, but got -1}}
  rt.dataset_size %frame, dataset -1 to %frame for "'use' at d.graph:3"
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

llvm.func @own_feed(%frame: !llvm.ptr, %n: i64) -> i32 {
  // expected-error @+1 {{expects a feed from 0 to 2147483646, but got -1}}
  rt.own_feed %frame, -1 to %frame bytes %n for "'own_feed' at d.graph:3"
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
