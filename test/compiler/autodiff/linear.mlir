// T steps cost O(T) time and memory, however large the values that they read, or O(sqrt T) memory.
// REQUIRES: numpy
// RUN: %python %S/Inputs/linear.py %s

// Rows of a large table, read at a counter.
dfg.entry @rows(%n: tensor<i32>, %table: tensor<300x3xf64>) -> (tensor<f64>, tensor<300x3xf64>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %none = dfg.constant dense<0.0> : tensor<3xf64>
  %f:2 = dfg.while (%zero, %none) : tensor<i32>, tensor<3xf64> {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %row = dfg.gather %table, %i : tensor<300x3xf64>, tensor<i32>
    %sum = dfg.add %s, %row : tensor<3xf64>, tensor<3xf64>
    %sin = dfg.sin %sum : tensor<3xf64>
    dfg.yield %next, %sin : tensor<i32>, tensor<3xf64>
  }
  %y = dfg.sum %f#1 : tensor<3xf64>
  %g = dfg.gradients %y, [%table] : (tensor<f64>, tensor<300x3xf64>) -> tensor<300x3xf64>
  dfg.return %y, %g : tensor<f64>, tensor<300x3xf64>
}

// A list that is read and written, in a branch and in a loop inside.
dfg.entry @lists(%n: tensor<i32>, %x: tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %two = dfg.constant dense<2> : tensor<i32>
  %half = dfg.constant dense<0.5> : tensor<f64>
  %empty = dfg.list_create %zero {shape = #dfg.dims<3>, dtype = f64} : tensor<i32>
  %l = dfg.list_write %empty, %zero, %x : !dfg.list<tensor<3xf64>>, tensor<i32>, tensor<3xf64>
  %f:3 = dfg.while (%zero, %l, %x) : tensor<i32>, !dfg.list<tensor<3xf64>>, tensor<3xf64> {
  ^bb0(%i: tensor<i32>, %m: !dfg.list<tensor<3xf64>>, %s: tensor<3xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %m: !dfg.list<tensor<3xf64>>, %s: tensor<3xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %total = dfg.sum %s : tensor<3xf64>
    %is_small = dfg.less %total, %half : tensor<f64>, tensor<f64>
    %a = dfg.if %is_small : tensor<i1> -> tensor<3xf64> {
      %inner:2 = dfg.while (%zero, %s) : tensor<i32>, tensor<3xf64> {
      ^bb0(%j: tensor<i32>, %t: tensor<3xf64>):
        %go = dfg.less %j, %two : tensor<i32>, tensor<i32>
        dfg.condition %go : tensor<i1>
      } do {
      ^bb0(%j: tensor<i32>, %t: tensor<3xf64>):
        %after = dfg.add %j, %one : tensor<i32>, tensor<i32>
        %e = dfg.list_read %m, %i : !dfg.list<tensor<3xf64>>, tensor<i32>
        %u = dfg.add %t, %e : tensor<3xf64>, tensor<3xf64>
        %v = dfg.sin %u : tensor<3xf64>
        dfg.yield %after, %v : tensor<i32>, tensor<3xf64>
      }
      dfg.yield %inner#1 : tensor<3xf64>
    } else {
      %e = dfg.list_read %m, %i : !dfg.list<tensor<3xf64>>, tensor<i32>
      %p = dfg.mul %e, %half : tensor<3xf64>, tensor<f64>
      dfg.yield %p : tensor<3xf64>
    }
    %w = dfg.list_write %m, %next, %a : !dfg.list<tensor<3xf64>>, tensor<i32>, tensor<3xf64>
    dfg.yield %next, %w, %a : tensor<i32>, !dfg.list<tensor<3xf64>>, tensor<3xf64>
  }
  %y = dfg.sum %f#2 : tensor<3xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<3xf64>) -> tensor<3xf64>
  dfg.return %y, %g : tensor<f64>, tensor<3xf64>
}

// Segments.
dfg.entry @sqrt(%n: tensor<i32>, %x: tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %f:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<3xf64> attributes {recompute = #dfg.recompute<sqrt>} {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %sin = dfg.sin %s : tensor<3xf64>
    %t = dfg.tanh %sin : tensor<3xf64>
    dfg.yield %next, %t : tensor<i32>, tensor<3xf64>
  }
  %y = dfg.sum %f#1 : tensor<3xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<3xf64>) -> tensor<3xf64>
  dfg.return %y, %g : tensor<f64>, tensor<3xf64>
}
