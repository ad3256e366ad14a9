// A loop that adds products of few rows keeps the factors, and one product after the loop adds up all iterations.
// RUN: tfc-opt --tfc-sum-after-loops --canonicalize %s | FileCheck %s

dfg.tape @saved : tensor<20x512xf32> {capacity = #dfg.dims<35>}
dfg.tape @tall : tensor<2000x512xf32> {capacity = #dfg.dims<35>}

// CHECK-LABEL: dfg.entry @few_rows
// CHECK-DAG: %[[A:.*]] = dfg.list_create %{{.*}} {dfg.list = 0 : i32, dtype = f32, shape = #dfg.dims<20, 512>}
// CHECK-DAG: %[[G:.*]] = dfg.list_create %{{.*}} {dfg.list = 1 : i32, dtype = f32, shape = #dfg.dims<20, 1024>}
// CHECK: %[[L:.*]]:4 = dfg.while({{.*}}, %[[A]], %[[G]])
// CHECK: do {
// CHECK: %[[X:.*]] = dfg.pop @saved
// CHECK-NOT: dfg.matmul
// CHECK: dfg.list_write %{{.*}}, %[[I:.*]], %[[X]]
// CHECK: dfg.list_write %{{.*}}, %[[I]], %{{.*}} : <tensor<20x1024xf32>>
// CHECK: }
// CHECK: %[[AS:.*]] = dfg.list_stack %[[L]]#2 {size = #dfg.dims<35>}
// CHECK: %[[AR:.*]] = dfg.reshape %[[AS]] {shape = #dfg.dims<700, 512>}
// CHECK: %[[GS:.*]] = dfg.list_stack %[[L]]#3 {size = #dfg.dims<35>}
// CHECK: %[[GR:.*]] = dfg.reshape %[[GS]] {shape = #dfg.dims<700, 1024>}
// CHECK: %[[P:.*]] = dfg.matmul %[[AR]], %[[GR]] {transpose_lhs = true}
// CHECK: %[[W:.*]] = dfg.add %arg1, %[[P]]
// CHECK: dfg.return %[[W]]
dfg.entry @few_rows(%g: tensor<20x1024xf32>, %w: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %last = dfg.constant dense<35> : tensor<i32>
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %r:2 = dfg.while (%last, %w) : tensor<i32>, tensor<512x1024xf32> attributes {trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %s: tensor<512x1024xf32>):
    %go = dfg.greater %i, %zero : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<512x1024xf32>):
    %next = dfg.sub %i, %one : tensor<i32>, tensor<i32>
    %a = dfg.pop @saved : tensor<20x512xf32>
    %p = dfg.matmul %a, %g {transpose_lhs = true} : tensor<20x512xf32>, tensor<20x1024xf32>
    %t = dfg.add %s, %p : tensor<512x1024xf32>, tensor<512x1024xf32>
    dfg.yield %next, %t : tensor<i32>, tensor<512x1024xf32>
  }
  dfg.return %r#1 : tensor<512x1024xf32>
}

// With many rows the product takes longer than reading and writing the sum.
// CHECK-LABEL: dfg.entry @many_rows
// CHECK-NOT: dfg.list_create
// CHECK: dfg.while
// CHECK: dfg.matmul
dfg.entry @many_rows(%g: tensor<2000x1024xf32>, %w: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %last = dfg.constant dense<35> : tensor<i32>
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %r:2 = dfg.while (%last, %w) : tensor<i32>, tensor<512x1024xf32> attributes {trips = #dfg.dims<35>} {
  ^bb0(%i: tensor<i32>, %s: tensor<512x1024xf32>):
    %go = dfg.greater %i, %zero : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<512x1024xf32>):
    %next = dfg.sub %i, %one : tensor<i32>, tensor<i32>
    %a = dfg.pop @tall : tensor<2000x512xf32>
    %p = dfg.matmul %a, %g {transpose_lhs = true} : tensor<2000x512xf32>, tensor<2000x1024xf32>
    %t = dfg.add %s, %p : tensor<512x1024xf32>, tensor<512x1024xf32>
    dfg.yield %next, %t : tensor<i32>, tensor<512x1024xf32>
  }
  dfg.return %r#1 : tensor<512x1024xf32>
}
