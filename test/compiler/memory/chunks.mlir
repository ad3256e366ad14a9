// Lists and tapes have chunks, tapes the first ones; a carried tensor that cannot be updated in
// place has two buffers, and a list that is only read needs no memory.
// RUN: tfc-opt --tfc-plan-memory --tfc-allocate-arena %s | FileCheck %s

dfg.tape @saved : tensor<4xf32>

// CHECK-LABEL: dfg.entry @loop
// CHECK-SAME: rt.tapes = [@saved]
// CHECK: dfg.list_create %{{.*}} {rt.memory = [#rt.chunk<1>]
// CHECK: dfg.list_unstack %{{[^{]*}} :
// CHECK: dfg.while{{.*}}rt.alternate = [unit, #rt.slot<0, 64>, unit], rt.memory = [unit, #rt.slot<0, 0>, #rt.chunk<1>]
// CHECK: dfg.list_write %{{.*}} {rt.memory = [#rt.chunk<1>]
// CHECK: dfg.list_read %{{.*}} {rt.memory = [#rt.slot<0, {{.*}}>]
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
