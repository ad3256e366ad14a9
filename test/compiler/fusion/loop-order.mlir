// Two updates in one kernel that is launched early move the loop that one of them reads, but no kernel is formed across
// two ordered operations on a tape.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

dfg.tape @t : tensor<8xf32>

// CHECK-LABEL: dfg.entry @taped
// CHECK: dfg.push @t
// CHECK: dfg.pop @t
// CHECK: dfg.push @t
// CHECK: dfg.pop @t
// CHECK: dfg.return
dfg.entry @taped(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = dfg.exp %x : tensor<8xf32>
  dfg.push @t, %a : tensor<8xf32>
  %b = dfg.pop @t : tensor<8xf32>
  %c = dfg.tanh %b : tensor<8xf32>
  dfg.push @t, %c : tensor<8xf32>
  %d = dfg.pop @t : tensor<8xf32>
  %e = dfg.mul %d, %a : tensor<8xf32>, tensor<8xf32>
  dfg.return %c, %e : tensor<8xf32>, tensor<8xf32>
}
