// Frames that are not loops or do not form a tree, and misplaced operations, are errors that name the nodes.
// RUN: tfc-opt %s --tfc-structure-control-flow --split-input-file --verify-diagnostics

func.func @cycle(%x: tensor<f32>) {
  dfg.dataflow {
    // expected-error @below {{the cycle add -> exp -> add has no 'next_iteration' [dataflow-cycle]}}
    %a = dfg.add %b, %x : tensor<f32>, tensor<f32>
    %b = dfg.exp %a : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @own_result(%x: tensor<f32>) {
  dfg.dataflow {
    // expected-error @below {{'dataflow' yields its own result [dataflow-cycle]}}
    %a = dfg.dataflow -> tensor<f32> {
      dfg.yield %a : tensor<f32>
    }
    dfg.yield
  }
  return
}

// -----

func.func @outside(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %y = dfg.dataflow -> tensor<f32> attributes {names = ["loss"]} {
    // expected-error @below {{'next_iteration' is not in a frame: its input does not come from an 'enter' [outside-frame]}}
    %a = dfg.next_iteration %x : tensor<f32>
    // expected-error @below {{'exit' is not in a frame}}
    %b = dfg.exit %x : tensor<f32>
    // expected-error @below {{'loop_cond' is not in a frame}}
    %c = dfg.loop_cond %p : tensor<i1>
    // expected-error @below {{the result 'loss' is inside frame 'f': pass it through an 'exit' [outside-frame]}}
    %d = dfg.enter %x {frame = "f"} : tensor<f32>
    dfg.yield %d : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

func.func @two_frames(%x: tensor<f32>) {
  dfg.dataflow {
    %a = dfg.enter %x {frame = "f", constant = true} : tensor<f32>
    // expected-note @below {{'enter' is in frame 'g'}}
    %b = dfg.enter %x {frame = "g", constant = true} : tensor<f32>
    // expected-error @below {{'add' takes values of two frames}}
    %c = dfg.add %a, %b : tensor<f32>, tensor<f32>
    // expected-note @below {{'enter' enters it here}}
    %d = dfg.enter %a {frame = "h"} : tensor<f32>
    // expected-error @below {{'enter' enters frame 'h' from frame 'g', but it is also entered from frame 'f' [unrelated-frames]}}
    %e = dfg.enter %b {frame = "h"} : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @no_condition(%x: tensor<f32>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    // expected-error @below {{frame 'f' is not a while loop: 'next_iteration' starts the next iteration, but the frame has no 'loop_cond' [irreducible-loop]}}
    %n = dfg.next_iteration %m : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @two_conditions(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    // expected-note @below {{'loop_cond' is the first one}}
    %a = dfg.loop_cond %c : tensor<i1>
    // expected-error @below {{frame 'f' is not a while loop: 'loop_cond' is its second 'loop_cond' [irreducible-loop]}}
    %b = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %a : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @no_switch(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "sum"} : tensor<f32>
    %c = dfg.enter %p {frame = "sum", constant = true} : tensor<i1>
    // expected-note @below {{the cycle is merge -> next_iteration -> merge; feed it from the true side of a 'switch' on 'loop_cond'}}
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    // expected-error @below {{frame 'sum' is not a while loop: 'next_iteration' reaches merge 'merge' without a switch on 'loop_cond' [irreducible-loop]}}
    %n = dfg.next_iteration %m : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @exit_of_each(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    // expected-error @below {{'exit' returns a value in each iteration, but must take it from the false side of a switch on 'loop_cond' [irreducible-loop]}}
    %y = dfg.exit %m : tensor<f32>
    dfg.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @three_inputs(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    // expected-error @below {{'merge' must merge one 'enter' that is not constant and one 'next_iteration' [irreducible-loop]}}
    %m, %i = dfg.merge %e, %n, %n : tensor<f32>, tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @nothing_carried(%p: tensor<i1>) {
  dfg.dataflow {
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    // expected-error @below {{'loop_cond' does not control any 'merge' of an 'enter' and a 'next_iteration' [irreducible-loop]}}
    %go = dfg.loop_cond %c : tensor<i1>
    dfg.yield
  }
  return
}

// -----

func.func @first_iteration(%x: tensor<f32>, %z: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    // expected-note @below {{help: merge it with a 'next_iteration', or make it 'constant: true'}}
    %o = dfg.enter %z {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    // expected-error @below {{'add' reads 'enter', which exists only in the first iteration [irreducible-loop]}}
    %a = dfg.add %t, %o : tensor<f32>, tensor<f32>
    %n = dfg.next_iteration %a : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @reads_next(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    // expected-error @below {{'exp' reads 'next_iteration', which only a 'merge' with an 'enter' may read [irreducible-loop]}}
    %a = dfg.exp %n : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @next_of_another(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    // expected-error @below {{'merge' is not in the frame of 'next_iteration', which starts its next iteration [unrelated-frames]}}
    %m, %i = dfg.merge %x, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %e, %go : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @into_itself(%x: tensor<f32>, %p: tensor<i1>) {
  dfg.dataflow {
    // expected-error @below {{a frame is not a while loop: it depends on its own result, through}}
    %e = dfg.enter %x {frame = "f"} : tensor<f32>
    %c = dfg.enter %p {frame = "f", constant = true} : tensor<i1>
    %m, %i = dfg.merge %e, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %c : tensor<i1>
    %t, %f = dfg.switch %m, %go : tensor<f32>, tensor<i1>
    %n = dfg.next_iteration %t : tensor<f32>
    %out = dfg.exit %f : tensor<f32>
    %again = dfg.enter %out {frame = "f", constant = true} : tensor<f32>
    %u = dfg.exp %again : tensor<f32>
    %s, %v = dfg.switch %u, %go : tensor<f32>, tensor<i1>
    %out2 = dfg.exit %v : tensor<f32>
    dfg.yield
  }
  return
}

// -----

func.func @misplaced(%x: tensor<f32>, %p: tensor<i1>) {
  // expected-error @below {{'switch' is outside of a 'dataflow' block [misplaced]}}
  %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
  dfg.dataflow {
    %a, %done = dfg.node after() -> tensor<f32> {
      // expected-error @below {{'merge' must be the only operation in its 'node' [misplaced]}}
      %m, %i = dfg.merge %x : tensor<f32>
      %e = dfg.exp %m : tensor<f32>
      dfg.yield %e : tensor<f32>
    }
    dfg.yield
  }
  return
}
