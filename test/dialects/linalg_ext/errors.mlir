// Operations whose shapes, types or regions do not fit together are refused.
// RUN: tfc-opt --split-input-file --verify-diagnostics %s -o /dev/null

func.func @scan_shape(%x: tensor<4x8xf32>, %zero: f32) {
  // expected-error @+1 {{expected inputs and result of one shape, but got}}
  %y = linalg_ext.scan %zero, %x along 1 : f32, tensor<4x8xf32> -> tensor<4x9xf32> {
  ^bb0(%sum: f32, %e: f32):
    linalg_ext.yield %e : f32
  }
  return
}

// -----

func.func @scan_dimension(%x: tensor<8xf32>, %zero: f32) {
  // expected-error @+1 {{expected a dimension below the rank 1}}
  %y = linalg_ext.scan %zero, %x along 1 : f32, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%sum: f32, %e: f32):
    linalg_ext.yield %e : f32
  }
  return
}

// -----

func.func @scan_associative(%x: tensor<8xf32>, %zero: f32) {
  // expected-error @+1 {{expected one input of an associative scan, but got 2}}
  %y = linalg_ext.scan %zero, %x, %x along 0 associative : f32, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%sum: f32, %a: f32, %b: f32):
    linalg_ext.yield %a : f32
  }
  return
}

// -----

func.func @scan_init(%x: tensor<8xf32>, %zero: f64) {
  // expected-error @+1 {{expected an initial value of the result's element type 'f32', but got 'f64'}}
  %y = linalg_ext.scan %zero, %x along 0 : f64, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%sum: f32, %e: f32):
    linalg_ext.yield %e : f32
  }
  return
}

// -----

func.func @scan_region(%x: tensor<8xf32>, %zero: f32) {
  // expected-error @+1 {{expected its region to take ('f32', 'f32'), but got ('f32')}}
  %y = linalg_ext.scan %zero, %x along 0 : f32, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%sum: f32):
    linalg_ext.yield %sum : f32
  }
  return
}

// -----

func.func @scatter_indices(%u: tensor<3xf32>, %x: tensor<8xf32>, %i: tensor<3x?xi64>) {
  // expected-error @+1 {{expected indices with a static last dimension}}
  %y = linalg_ext.scatter %u into %x at %i : tensor<3xf32>, tensor<8xf32>, tensor<3x?xi64> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  return
}

// -----

func.func @scatter_float_indices(%u: tensor<3xf32>, %x: tensor<8xf32>, %i: tensor<3x1xf32>) {
  // expected-error @+1 {{expected integer indices}}
  %y = linalg_ext.scatter %u into %x at %i : tensor<3xf32>, tensor<8xf32>, tensor<3x1xf32> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  return
}

// -----

func.func @scatter_rank(%u: tensor<3x2xf32>, %x: tensor<8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{expected updates of rank 1}}
  %y = linalg_ext.scatter %u into %x at %i : tensor<3x2xf32>, tensor<8xf32>, tensor<3x1xi64> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  return
}

// -----

func.func @scatter_type(%u: tensor<3xf64>, %x: tensor<8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{expected updates of element type 'f32'}}
  %y = linalg_ext.scatter %u into %x at %i : tensor<3xf64>, tensor<8xf32>, tensor<3x1xi64> {
  ^bb0(%old: f32, %update: f32):
    linalg_ext.yield %update : f32
  }
  return
}

// -----

func.func @sort_keys(%k: tensor<4xf32>, %p: tensor<4xi64>) {
  // expected-error @+1 {{expected integer keys of whole bytes}}
  %y = linalg_ext.sort %k along 0 into %p : tensor<4xf32> -> tensor<4xi64>
  return
}

// -----

func.func @sort_dimension(%k: tensor<4xi32>, %p: tensor<4xi64>) {
  // expected-error @+1 {{expected a dimension below the rank 1}}
  %y = linalg_ext.sort %k along 1 into %p : tensor<4xi32> -> tensor<4xi64>
  return
}

// -----

func.func @sort_places(%k: tensor<4xi32>, %p: tensor<4x2xi64>) {
  // expected-error @+1 {{expected places of the keys' type}}
  %y = linalg_ext.sort %k along 0 into %p : tensor<4xi32> -> tensor<4x2xi64>
  return
}
