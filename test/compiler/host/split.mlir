// A long function of an entry is cut where the fewest values pass. Its parts compute addresses and
// constants again, load what others have computed, and return a status if they can fail.
// RUN: tfc-opt --tfc-split-host=limit=12 %s | FileCheck %s

llvm.func @kernel(i64, !llvm.ptr, i64, i64)

// CHECK-LABEL: llvm.func @tfc_entry_0_run(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr)
// CHECK: %[[SPILLED:.*]] = llvm.alloca %{{.*}} x !llvm.array<1 x i64>
// CHECK-NOT: rt.field
// CHECK: llvm.call @tfc_entry_0_run.part0(%[[FRAME]], %[[SPILLED]]) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT: %[[STATUS:.*]] = llvm.call @tfc_entry_0_run.part1(%[[FRAME]], %[[SPILLED]])
// CHECK-NEXT: rt.propagate %[[STATUS]]
// CHECK-NEXT: llvm.return
llvm.func @tfc_entry_0_run(%frame: !llvm.ptr) -> i32 attributes {rt.entry} {
  %feeds = rt.field %frame[feeds]
  %x = rt.element %feeds[0] : !llvm.ptr
  %ok = llvm.mlir.constant(0 : i32) : i32
  %n = llvm.load %x : !llvm.ptr -> i64
  rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
  rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
  rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
  %holds = arith.cmpi slt, %n, %n : i64
  rt.check %frame, %holds else invalid_argument "no"
  llvm.return %ok : i32
}

// CHECK: llvm.func @tfc_entry_0_run.part0(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[SPILLED:.*]]: !llvm.ptr)
// CHECK-SAME: no_inline
// CHECK: %[[FEEDS:.*]] = rt.field %[[FRAME]][feeds]
// CHECK: %[[X:.*]] = rt.element %[[FEEDS]][0]
// CHECK: %[[N:.*]] = llvm.load %[[X]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SPILLED]][0]
// CHECK: llvm.store %[[N]], %[[PLACE]]
// CHECK: rt.launch %[[FRAME]], @kernel(%[[N]], %[[X]])
// CHECK: llvm.return

// CHECK: llvm.func @tfc_entry_0_run.part1(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[SPILLED:.*]]: !llvm.ptr) -> i32
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SPILLED]][0]
// CHECK: %[[N:.*]] = llvm.load %[[PLACE]]
// CHECK: rt.field %[[FRAME]][feeds]
// CHECK: rt.launch
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt, %[[N]], %[[N]]
// CHECK: rt.check %[[FRAME]], %[[HOLDS]]
// CHECK: llvm.return %{{.*}} : i32

// The blocks of a branch are split before the block that contains it. A value that leaves the part
// which computes it, such as the result of a block, is loaded again.
// CHECK-LABEL: llvm.func @tfc_entry_1_run(
// CHECK: llvm.return
// CHECK: llvm.func @tfc_entry_1_run.part0(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[SPILLED:.*]]: !llvm.ptr)
// CHECK: rt.launch
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: scf.if
// CHECK: llvm.call @tfc_entry_1_run.part{{[0-9]}}(%[[FRAME]], %[[SPILLED]])
// CHECK: %[[Y:.*]] = llvm.load
// CHECK: scf.yield %[[Y]]
llvm.func @tfc_entry_1_run(%frame: !llvm.ptr) -> i32 attributes {rt.entry} {
  %feeds = rt.field %frame[feeds]
  %x = rt.element %feeds[0] : !llvm.ptr
  %ok = llvm.mlir.constant(0 : i32) : i32
  %n = llvm.load %x : !llvm.ptr -> i64
  %zero = arith.constant 0 : i64
  %some = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %some -> (i64) {
    rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
    rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
    rt.launch %frame, @kernel(%n, %x) over %n : i64, !llvm.ptr
    %y = llvm.load %x : !llvm.ptr -> i64
    scf.yield %y : i64
  } else {
    scf.yield %n : i64
  }
  rt.launch %frame, @kernel(%m, %x) over %m : i64, !llvm.ptr
  rt.launch %frame, @kernel(%m, %x) over %m : i64, !llvm.ptr
  llvm.return %ok : i32
}

// Values that memory of 8 bytes cannot hold stay in their part; other functions are not split.
// CHECK-LABEL: llvm.func @tfc_entry_0_arena(
// CHECK: llvm.call @tfc_entry_0_arena.part0
// CHECK: llvm.func @tfc_entry_0_arena.part0(
// CHECK: llvm.intr.sadd.with.overflow
// CHECK-NEXT: llvm.extractvalue
// CHECK-NEXT: llvm.extractvalue
// CHECK: llvm.return
// CHECK: llvm.func @other
// CHECK-NOT: call
llvm.func @tfc_entry_0_arena(%symbols: !llvm.ptr) -> i64 attributes {rt.entry} {
  %a = llvm.load %symbols : !llvm.ptr -> i64
  %b = llvm.load %symbols : !llvm.ptr -> i64
  %c = llvm.load %symbols : !llvm.ptr -> i64
  %d = llvm.load %symbols : !llvm.ptr -> i64
  %e = llvm.load %symbols : !llvm.ptr -> i64
  %sum = "llvm.intr.sadd.with.overflow"(%a, %b) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %bytes = llvm.extractvalue %sum[0] : !llvm.struct<(i64, i1)>
  %flag = llvm.extractvalue %sum[1] : !llvm.struct<(i64, i1)>
  %s = arith.select %flag, %a, %bytes : i64
  %t = arith.addi %s, %c : i64
  %u = arith.addi %t, %d : i64
  %v = arith.addi %u, %e : i64
  %w = arith.addi %v, %e : i64
  llvm.return %w : i64
}
llvm.func @other(%symbols: !llvm.ptr) -> i64 {
  %a = llvm.load %symbols : !llvm.ptr -> i64
  %b = arith.addi %a, %a : i64
  %c = arith.addi %b, %b : i64
  %d = arith.addi %c, %c : i64
  %e = arith.addi %d, %d : i64
  %f = arith.addi %e, %e : i64
  %g = arith.addi %f, %f : i64
  %h = arith.addi %g, %g : i64
  %i = arith.addi %h, %h : i64
  %j = arith.addi %i, %i : i64
  %k = arith.addi %j, %j : i64
  %l = arith.addi %k, %k : i64
  llvm.return %l : i64
}
