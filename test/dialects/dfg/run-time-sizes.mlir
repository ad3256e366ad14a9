// The binding of a size round-trips; a name is bound once, and its bound is known before it.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @bind
func.func @bind(%mask: tensor<?xi1, #dfg.dims<n>>, %count: tensor<i64>) {
  // CHECK: dfg.bind_size %{{.*}} {bound = #dfg.dims<"2 * n">, size = #dfg.dims<k>} : tensor<i64>
  dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<"2 * n">} : tensor<i64>
  // CHECK: dfg.true_positions %{{.*}} {size = #dfg.dims<k>} : tensor<?xi1, #dfg.dims<n>>
  %p = dfg.true_positions %mask {size = #dfg.dims<k>} : tensor<?xi1, #dfg.dims<n>>
  // CHECK: dfg.relu %{{.*}} : tensor<?xi64, #dfg.dims<k>>
  %q = dfg.relu %p : tensor<?xi64, #dfg.dims<k>>
  return
}

// -----

func.func @two(%count: tensor<i64>) {
  // expected-error @+1 {{'dfg.bind_size' op expects one name to bind}}
  dfg.bind_size %count {size = #dfg.dims<"2 * k">, bound = #dfg.dims<4>} : tensor<i64>
  return
}

// -----

func.func @bounds(%count: tensor<i64>) {
  // expected-error @+1 {{'dfg.bind_size' op expects one size as the bound}}
  dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<4, 4>} : tensor<i64>
  return
}

// -----

func.func @circle(%count: tensor<i64>) {
  // expected-error @+1 {{'dfg.bind_size' op expects a bound that is known before 'k'}}
  dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<"k + 1">} : tensor<i64>
  return
}

// -----

func.func @rank(%mask: tensor<2x3xi1>) {
  // expected-error @+1 {{'true_positions' expects a mask with one axis, but got bool[2, 3] [rank]}}
  %p = dfg.true_positions %mask {size = #dfg.dims<3>} : tensor<2x3xi1>
  return
}

// -----

func.func @sizes(%mask: tensor<3xi1>) {
  // expected-error @+1 {{'true_positions' expects one size [size]}}
  %p = dfg.true_positions %mask {size = #dfg.dims<3, 3>} : tensor<3xi1>
  return
}
