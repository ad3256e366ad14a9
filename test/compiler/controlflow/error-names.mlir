// Errors use the author's names of nodes.
// RUN: not tfc-opt %s --tfc-structure-control-flow 2>&1 | FileCheck %s

// CHECK: error: loc("s_next"): frame 'sum' is not a while loop: 's_next' reaches merge 's' without a switch on 'go' [irreducible-loop]
// CHECK: note: loc("s"): the cycle is s -> add -> s_next -> s; feed it from the true side of a 'switch' on 'go'
func.func @sum(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "sum"} : tensor<f32>
    %c = dfg.enter %p {frame = "sum", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32> loc("s")
    %go = dfg.loop_cond %c : tensor<i1> loc("go")
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    %a = dfg.add %m, %x : tensor<f32>, tensor<f32>
    %n = dfg.next_iteration %a : tensor<f32> loc("s_next")
    dfg.yield
  }
  return
}
