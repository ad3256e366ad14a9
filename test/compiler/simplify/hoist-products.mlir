// Products of the elements of a list are one product before the loop; those of carried rows stay in it.
// RUN: tfc-opt --tfc-hoist-products --canonicalize %s | FileCheck %s

// CHECK-LABEL: dfg.entry @joined
// CHECK-DAG: %[[X:.*]] = dfg.reshape %arg0 {shape = #dfg.dims<280, 64>}
// CHECK-DAG: %[[W:.*]] = dfg.slice %arg2 {sizes = #dfg.dims<64, 256>, starts = #dfg.dims<16, 0>}
// CHECK: %[[P:.*]] = dfg.matmul %[[X]], %[[W]] : tensor<280x64xf32>, tensor<64x256xf32>
// CHECK: %[[B:.*]] = dfg.add %[[P]], %arg3
// CHECK: %[[R:.*]] = dfg.reshape %[[B]] {shape = #dfg.dims<35, 8, 256>}
// CHECK: %[[L:.*]] = dfg.list_unstack %[[R]]
// CHECK: dfg.while
// CHECK: do {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<8x16xf32>):
// CHECK: %[[C:.*]] = dfg.matmul %[[H]], %{{.*}} : tensor<8x16xf32>, tensor<16x256xf32>
// CHECK: %[[Z:.*]] = dfg.list_read %[[L]], %[[I]]
// CHECK: %[[S:.*]] = dfg.add %[[C]], %[[Z]]
// CHECK-NOT: dfg.add %{{.*}}, %arg3
// CHECK: dfg.slice %[[S]]
dfg.entry @joined(%x: tensor<35x8x64xf32>, %h0: tensor<8x16xf32>, %w: tensor<80x256xf32>, %b: tensor<256xf32>) -> tensor<8x16xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last = dfg.constant dense<35> : tensor<i32>
  %l = dfg.list_unstack %x : tensor<35x8x64xf32>
  %r:2 = dfg.while (%zero, %h0) : tensor<i32>, tensor<8x16xf32> attributes {trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %h: tensor<8x16xf32>):
    %go = dfg.less %i, %last : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<8x16xf32>):
    %x_t = dfg.list_read %l, %i : <tensor<8x64xf32>>, tensor<i32>
    %j = dfg.concat %h, %x_t {axis = 1 : i64} : tensor<8x16xf32>, tensor<8x64xf32>
    %p = dfg.matmul %j, %w : tensor<8x80xf32>, tensor<80x256xf32>
    %z = dfg.add %p, %b : tensor<8x256xf32>, tensor<256xf32>
    %n = dfg.slice %z {sizes = #dfg.dims<8, 16>, starts = #dfg.dims<0, 0>} : tensor<8x256xf32>
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %n : tensor<i32>, tensor<8x16xf32>
  }
  dfg.return %r#1 : tensor<8x16xf32>
}

// The elements of a batch stay as they are, and bf16, which would be rounded twice.
// CHECK-LABEL: dfg.entry @whole
// CHECK: dfg.matmul %{{.*}} : tensor<280x64xbf16>, tensor<64x256xbf16>
// CHECK: dfg.reshape %{{.*}} {shape = #dfg.dims<35, 2, 4, 256>}
// CHECK: do {
// CHECK: dfg.matmul %{{.*}} : tensor<2x4x128xbf16>, tensor<128x256xbf16>
// CHECK: dfg.list_read %{{.*}} : <tensor<2x4x256xbf16>>
dfg.entry @whole(%x: tensor<35x2x4x64xbf16>, %h0: tensor<2x4x64xbf16>, %w: tensor<64x256xbf16>, %v: tensor<128x256xbf16>) -> tensor<2x4x64xbf16> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last = dfg.constant dense<35> : tensor<i32>
  %l = dfg.list_unstack %x : tensor<35x2x4x64xbf16>
  %r:2 = dfg.while (%zero, %h0) : tensor<i32>, tensor<2x4x64xbf16> attributes {trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %h: tensor<2x4x64xbf16>):
    %go = dfg.less %i, %last : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<2x4x64xbf16>):
    %x_t = dfg.list_read %l, %i : <tensor<2x4x64xbf16>>, tensor<i32>
    %j = dfg.concat %h, %x_t {axis = 2 : i64} : tensor<2x4x64xbf16>, tensor<2x4x64xbf16>
    %q = dfg.matmul %j, %v : tensor<2x4x128xbf16>, tensor<128x256xbf16>
    %p = dfg.matmul %x_t, %w : tensor<2x4x64xbf16>, tensor<64x256xbf16>
    %z = dfg.add %p, %q : tensor<2x4x256xbf16>, tensor<2x4x256xbf16>
    %n = dfg.slice %z {sizes = #dfg.dims<2, 4, 64>, starts = #dfg.dims<0, 0, 0>} : tensor<2x4x256xbf16>
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %n : tensor<i32>, tensor<2x4x64xbf16>
  }
  dfg.return %r#1 : tensor<2x4x64xbf16>
}

// Many rows, few columns, weights that change and recomputation keep the product in its loop.
// CHECK-LABEL: dfg.entry @stays
// CHECK: do {
// CHECK: dfg.matmul
// CHECK: dfg.matmul
// CHECK: dfg.matmul
// CHECK: do {
// CHECK: dfg.matmul
dfg.entry @stays(%x: tensor<35x64x64xf32>, %y: tensor<35x4x8xf32>, %w: tensor<64x256xf32>, %v: tensor<8x256xf32>, %u: tensor<4x64xf32>)
    -> (tensor<f32>, tensor<64x256xf32>, tensor<f32>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %s0 = dfg.constant dense<0.0> : tensor<f32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last = dfg.constant dense<35> : tensor<i32>
  %l = dfg.list_unstack %x : tensor<35x64x64xf32>
  %m = dfg.list_unstack %y : tensor<35x4x8xf32>
  %r:3 = dfg.while (%zero, %s0, %w) : tensor<i32>, tensor<f32>, tensor<64x256xf32> attributes {trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>, %c: tensor<64x256xf32>):
    %go = dfg.less %i, %last : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>, %c: tensor<64x256xf32>):
    %x_t = dfg.list_read %l, %i : <tensor<64x64xf32>>, tensor<i32>
    %y_t = dfg.list_read %m, %i : <tensor<4x8xf32>>, tensor<i32>
    %p = dfg.matmul %x_t, %w : tensor<64x64xf32>, tensor<64x256xf32>
    %q = dfg.matmul %y_t, %v : tensor<4x8xf32>, tensor<8x256xf32>
    %o = dfg.matmul %u, %c : tensor<4x64xf32>, tensor<64x256xf32>
    %sp = dfg.sum %p : tensor<64x256xf32>
    %sq = dfg.sum %q : tensor<4x256xf32>
    %so = dfg.sum %o : tensor<4x256xf32>
    %s1 = dfg.add %s, %sp : tensor<f32>, tensor<f32>
    %s2 = dfg.add %s1, %sq : tensor<f32>, tensor<f32>
    %s3 = dfg.add %s2, %so : tensor<f32>, tensor<f32>
    %d = dfg.add %c, %c : tensor<64x256xf32>, tensor<64x256xf32>
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %s3, %d : tensor<i32>, tensor<f32>, tensor<64x256xf32>
  }
  %z = dfg.reshape %x {shape = #dfg.dims<35, 4, 1024>} : tensor<35x64x64xf32>
  %k = dfg.list_unstack %z : tensor<35x4x1024xf32>
  %big = dfg.reshape %w {shape = #dfg.dims<1024, 16>} : tensor<64x256xf32>
  %t:2 = dfg.while (%zero, %s0) : tensor<i32>, tensor<f32> attributes {recompute = #dfg.recompute<all>, trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>):
    %go = dfg.less %i, %last : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>):
    %z_t = dfg.list_read %k, %i : <tensor<4x1024xf32>>, tensor<i32>
    %p = dfg.matmul %z_t, %big : tensor<4x1024xf32>, tensor<1024x16xf32>
    %sp = dfg.sum %p : tensor<4x16xf32>
    %s1 = dfg.add %s, %sp : tensor<f32>, tensor<f32>
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %s1 : tensor<i32>, tensor<f32>
  }
  dfg.return %r#1, %r#2, %t#1 : tensor<f32>, tensor<64x256xf32>, tensor<f32>
}
