// A launch must match its lowered kernel.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

dfg.entry @count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects the operands and results of kernel @k}}
  dfg.launch @k(%x, %x) {sizes = #dfg.dims<>} : (tensor<4xf32>, tensor<4xf32>) -> ()
  dfg.return
}
kernel.func @k(tensor<4xf32>)

// -----

dfg.entry @results(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'dfg.launch' op expects the operands and results of kernel @k}}
  %y = dfg.launch @k(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %y : tensor<4xf32>
}
kernel.func @k(tensor<4xf32>)

// -----

dfg.entry @sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects 2 sizes}}
  dfg.launch @k(%x) {sizes = #dfg.dims<4>} : (tensor<4xf32>) -> ()
  dfg.return
}
kernel.func @k(index, index, tensor<4xf32>)

// -----

dfg.entry @element(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects 'tensor<4xf64>' as operand 0 of @k, but got 'tensor<4xf32>'}}
  dfg.launch @k(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> ()
  dfg.return
}
kernel.func @k(tensor<4xf64>)

// -----

dfg.entry @rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects 'tensor<4x1xf32>' as operand 0 of @k, but got 'tensor<4xf32>'}}
  dfg.launch @k(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> ()
  dfg.return
}
kernel.func @k(tensor<4x1xf32>)

// -----

dfg.entry @dynamic(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"]} {
  // expected-error @+1 {{'dfg.launch' op expects 'tensor<?xf32>' as operand 0 of @k, but got 'tensor<?xf32, #dfg.dims<n>>'}}
  dfg.launch @k(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> ()
  dfg.return
}
kernel.func @k(index, tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (2 * s0)>})

// -----

dfg.entry @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'dfg.launch' op expects 'tensor<5xf32>' as result 0 of @k, but got 'tensor<4xf32>'}}
  %y = dfg.launch @k(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %y : tensor<4xf32>
}
kernel.func @k(tensor<4xf32>) -> tensor<5xf32>

// -----

dfg.entry @other(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects the name of a kernel, but got @entry}}
  dfg.launch @entry(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> ()
  dfg.return
}
dfg.entry @entry(%x: tensor<4xf32>) {
  dfg.return
}

// -----

dfg.entry @e(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.launch' op expects the last operand of a guarded launch to be a bool}}
  dfg.launch @k(%x) {guarded, sizes = #dfg.dims<>} : (tensor<4xf32>) -> ()
  dfg.return
}
