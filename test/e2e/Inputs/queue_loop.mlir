// A sum over elements that a loop takes out of a queue, a second one in some iterations, and its
// gradient.
module @looped {
  dfg.queue @q : [tensor<3xf64>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 16 : i64}
  dfg.variable @w : tensor<3xf64>
  dfg.entry @init() attributes {initializer} {
    %zero = dfg.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
    %0 = dfg.assign @w, %zero : tensor<3xf64>
    dfg.return
  }
  dfg.entry @put(%x: tensor<?x3xf64, #dfg.dims<n, 3>> {dfg.name = "x"}) attributes {symbols = ["n"]} {
    dfg.enqueue_many @q(%x) : tensor<?x3xf64, #dfg.dims<n, 3>>
    dfg.return
  }
  dfg.entry @train(%n: tensor<i64> {dfg.name = "n"}) -> (tensor<f64> {dfg.name = "y"}, tensor<3xf64> {dfg.name = "g"}, tensor<3xf64> {dfg.name = "last"}) {
    %w = dfg.read @w : tensor<3xf64>
    %zero = dfg.constant dense<0> : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %none = dfg.constant dense<0.0> : tensor<f64>
    %z3 = dfg.constant dense<0.0> : tensor<3xf64>
    %i, %y, %last = dfg.while (%zero, %none, %z3) : tensor<i64>, tensor<f64>, tensor<3xf64> {
    ^bb0(%j: tensor<i64>, %s: tensor<f64>, %l: tensor<3xf64>):
      %more = dfg.less %j, %n : tensor<i64>, tensor<i64>
      dfg.condition %more : tensor<i1>
    } do {
    ^bb0(%j: tensor<i64>, %s: tensor<f64>, %l: tensor<3xf64>):
      %x = dfg.dequeue @q : tensor<3xf64>
      %p = dfg.mul %x, %w : tensor<3xf64>, tensor<3xf64>
      %e = dfg.sin %p : tensor<3xf64>
      %t = dfg.sum %e : tensor<3xf64>
      %pos = dfg.greater %t, %none : tensor<f64>, tensor<f64>
      %k = dfg.if %pos : tensor<i1> -> tensor<3xf64> {
        %x2 = dfg.dequeue @q : tensor<3xf64>
        dfg.yield %x2 : tensor<3xf64>
      } else {
        dfg.yield %x : tensor<3xf64>
      }
      %kw = dfg.mul %k, %w : tensor<3xf64>, tensor<3xf64>
      %u = dfg.sum %kw : tensor<3xf64>
      %v = dfg.mul %u, %t : tensor<f64>, tensor<f64>
      %s2 = dfg.add %s, %v : tensor<f64>, tensor<f64>
      %next = dfg.add %j, %one : tensor<i64>, tensor<i64>
      dfg.yield %next, %s2, %k : tensor<i64>, tensor<f64>, tensor<3xf64>
    }
    %g = dfg.gradients %y, [%w] : (tensor<f64>, tensor<3xf64>) -> tensor<3xf64>
    %new = dfg.sub %w, %g : tensor<3xf64>, tensor<3xf64>
    %0 = dfg.assign @w, %new : tensor<3xf64>
    dfg.return %y, %g, %last : tensor<f64>, tensor<3xf64>, tensor<3xf64>
  }
}
