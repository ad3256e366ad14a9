// A loop is an scf.while that carries values in registers: scalars, lengths of lists, and, for a
// tensor that cannot be updated in place, the addresses of two alternating buffers.
// RUN: tfc-opt --tfc-plan-memory --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

dfg.tape @saved : tensor<4xf32>

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr
// CHECK: %[[LENGTH:.*]] = llvm.alloca
// CHECK: %[[CHUNKS:.*]] = rt.field %[[FRAME]][chunks]
// CHECK: rt.check %[[FRAME]], %{{.*}} else out_of_memory "not enough memory for a list of %lld elements"(%[[SIZE:.*]])
// CHECK: rt.grow %[[FRAME]], %[[CHUNKS]][1] to %[[BYTES:.*]]
// CHECK: %[[DATA:.*]] = rt.chunk %[[CHUNKS]][1]
// CHECK: "llvm.intr.memset"(%[[DATA]], %{{.*}}, %[[BYTES]])
// CHECK: "llvm.intr.memcpy"(%[[FIRST:.*]], %{{.*}}, %{{.*}})
// CHECK: %[[LOOP:.*]]:4 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST]], %{{.*}} = %{{.*}}, %{{.*}} = %[[SIZE]])
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, !llvm.ptr, !llvm.ptr, i64
// CHECK: ^bb0(%[[I:.*]]: i32, %[[CURRENT:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr, %[[ELEMENTS:.*]]: i64):
// CHECK: llvm.load %[[LENGTH]]
// CHECK: rt.grow %[[FRAME]], %[[CHUNKS]][0]
// CHECK: llvm.store %{{.*}}, %[[LENGTH]]
// CHECK: scf.if
// CHECK: rt.grow %[[FRAME]], %[[CHUNKS]][1]
// CHECK: "llvm.intr.memcpy"(%{{.*}}, %[[CURRENT]],
// CHECK: %[[GROWN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ELEMENTS]]
// CHECK: scf.if
// CHECK: "llvm.intr.memcpy"(%[[ROW:.*]], %{{.*}}, %{{.*}})
// CHECK: else
// CHECK: "llvm.intr.memset"(%[[ROW]],
// CHECK: rt.launch %[[FRAME]], @both(%[[CURRENT]], %[[ROW]], %[[OTHER]], %{{.*}})
// CHECK: scf.yield %{{.*}}, %[[OTHER]], %[[CURRENT]], %[[GROWN]]
// CHECK: "llvm.intr.memcpy"(%{{.*}}, %[[LOOP]]#1,
dfg.entry @loop(%n: tensor<i32>, %x: tensor<4xf32>, %rows: tensor<8x4xf32>) -> tensor<4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %list = dfg.list_create %zero {shape = #dfg.dims<4>} : tensor<i32>
  %view = dfg.list_unstack %rows : tensor<8x4xf32>
  %last, %y, %all = dfg.while (%zero, %x, %list) : tensor<i32>, tensor<4xf32>, !dfg.list<tensor<4xf32>> {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %l: !dfg.list<tensor<4xf32>>):
    %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %l: !dfg.list<tensor<4xf32>>):
    dfg.push @saved, %s : tensor<4xf32>
    %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
    %m = dfg.list_write %l, %i, %s : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    %r = dfg.list_read %view, %i : !dfg.list<tensor<4xf32>>, tensor<i32>
    %t = dfg.launch @both(%s, %r) {sizes = #dfg.dims<>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dfg.yield %next, %t, %m : tensor<i32>, tensor<4xf32>, !dfg.list<tensor<4xf32>>
  }
  dfg.return %y : tensor<4xf32>
}

llvm.func @both(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
