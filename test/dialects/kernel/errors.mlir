// The attributes of kernels that later stages use are verified.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{'kernel.func' op expects sizes, then tensors, but got 'index'}}
kernel.func @order(%x: tensor<4xf32>, %n: index) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op expects sizes, then tensors, but got 'f32'}}
kernel.func @scalar() -> f32

// -----

// expected-error @+1 {{'kernel.func' op expects sizes, then tensors, but got 'tensor<*xf32>'}}
kernel.func @unranked(tensor<*xf32>)

// -----

// expected-error @+1 {{'kernel.func' op expects a symbol for each of its 1 sizes}}
kernel.func @symbols(index) attributes {symbols = ["n", "m"]}

// -----

// expected-error @+1 {{'kernel.func' op expects to end with 'kernel.return'}}
kernel.func @end() {
  ub.unreachable
}

// -----

kernel.func @types(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{'kernel.return' op expects values of the types 'tensor<4xf64>', but got 'tensor<4xf32>'}}
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'kernel.func' op expects the sizes of 'tensor<?x4xf32>' over its 1 sizes, but got affine_map<()[s0] -> (s0)>}}
kernel.func @shape(index, tensor<?x4xf32> {kernel.shape = affine_map<()[s0] -> (s0)>})

// -----

// expected-error @+1 {{'kernel.func' op shares memory with tensor argument 7, but has 1}}
kernel.func @in_place(tensor<4xf32>) -> (tensor<4xf32> {kernel.in_place = 7 : i32})

// -----

// expected-error @+1 {{'kernel.func' op shares memory with tensor argument -1, but has 1}}
kernel.func @negative(index, tensor<4xf32>) -> (tensor<4xf32> {kernel.may_share = array<i32: 0, -1>})

// -----

// expected-error @+1 {{'kernel.func' op has a result with the invalid attribute "kernel.may_share" = ["x"]}}
kernel.func @list(tensor<4xf32>) -> (tensor<4xf32> {kernel.may_share = ["x"]})

// -----

// expected-error @+1 {{'kernel.func' op has an argument with the unknown attribute "kernel.in_place"}}
kernel.func @argument(tensor<4xf32> {kernel.in_place = 0 : i32})

// -----

// expected-error @+1 {{'kernel.func' op has an unknown attribute "kernel.grain"}}
kernel.func @unknown() attributes {kernel.grain = 4 : i64}

// -----

// expected-error @+1 {{'kernel.func' op expects 'kernel.abi' to be the '#kernel.abi' of an 'llvm.func'}}
kernel.func @function() attributes {kernel.abi}

// -----

// expected-error @+1 {{'llvm.func' op expects affine_map<()[s0, s1] -> (s1)> to depend on its 1 sizes alone}}
llvm.func @sizes(i64, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0, s1] -> (s1)>, grain = 8, scratch = affine_map<() -> (0)>>}

// -----

llvm.func @dims(!llvm.ptr, i64, i64) attributes
    // expected-error @+1 {{expected an extent over the sizes of a kernel, but got affine_map<(d0) -> (d0)>}}
    {kernel.abi = #kernel.abi<extent = affine_map<(d0) -> (d0)>, grain = 8, scratch = affine_map<() -> (0)>>}

// -----

llvm.func @grain(!llvm.ptr, i64, i64) attributes
    // expected-error @+1 {{expected a positive grain, but got 0}}
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 0, scratch = affine_map<() -> (0)>>}

// -----

llvm.func @scratch(!llvm.ptr, i64, i64) attributes
    // expected-error @+1 {{expected scratch memory over the sizes of a kernel, but got affine_map<() -> (-64)>}}
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (-64)>>}

// -----

// expected-error @+1 {{'kernel.func' op writes two results over tensor argument 0}}
kernel.func @twice(tensor<4xf32>) -> (tensor<4xf32> {kernel.in_place = 0 : i32}, tensor<4xf32> {kernel.in_place = 0 : i32})

// -----

// expected-error @+1 {{'builtin.module' op expects 'kernel.targets' to describe each target of a module by a '#kernel.target'}}
module attributes {kernel.targets = {cpu = "x86-64"}} {
}

// -----

// expected-error @+1 {{expected caches of at least 4096 bytes}}
module attributes {kernel.targets = {cpu = #kernel.target<triple = "", processor = "", features = "", layout = "", l1 = 0, l2 = 4096>}} {
}

// -----

// expected-error @+1 {{expected tf32 or bf16 for factors, but got 'f16'}}
module attributes {kernel.targets = {gpu = #kernel.target<triple = "", processor = "", features = "", layout = "", l1 = 4096, l2 = 4096, factors = f16>}} {
}

// -----

llvm.func @division(i64, !llvm.ptr, i64, i64) attributes
    // expected-error @+1 {{expected an extent over the sizes of a kernel}}
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0 floordiv (1 - 1))>, grain = 1, scratch = affine_map<() -> (0)>>}

// -----

// expected-error @+1 {{expects the name of a target of the module, but got "gpu"}}
llvm.func @target(!llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>, target = "gpu">}

// -----

llvm.func @name(!llvm.ptr, i64, i64) attributes
    // expected-error @+3 {{expected a name of letters, digits, '_' and '$', but got "a.b"}}
    // expected-error @+2 {{failed to parse Kernel_AbiAttr parameter 'grids'}}
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>,
     target = "gpu", grids = [<"a.b", threads = affine_map<() -> (1)>, block = 256>]>}

// -----

llvm.func @threads(!llvm.ptr, i64, i64) attributes
    // expected-error @+3 {{expected threads over the sizes of a kernel, but got affine_map<() -> (-1)>}}
    // expected-error @+2 {{failed to parse Kernel_AbiAttr parameter 'grids'}}
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>,
     target = "gpu", grids = [<"a", threads = affine_map<() -> (-1)>, block = 256>]>}

// -----

llvm.func @block(!llvm.ptr, i64, i64) attributes
    // expected-error @+3 {{expected a multiple of 32 up to 1024 threads in a block, but got 100}}
    // expected-error @+2 {{failed to parse Kernel_AbiAttr parameter 'grids'}}
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>,
     target = "gpu", grids = [<"a", threads = affine_map<() -> (1)>, block = 100>]>}

// -----

module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "", l1 = 131072, l2 = 4194304>}} {
  // expected-error @+1 {{expects no body, because the code of its grids is in an image}}
  llvm.func @body(%x: !llvm.ptr) attributes
      {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>,
       target = "gpu", grids = [<"a", threads = affine_map<() -> (1)>, block = 32>]>} {
    llvm.return
  }
}

// -----

// expected-error @+1 {{'kernel.image' op expects the name of a target of the module, but got "gpu"}}
kernel.image for "gpu" code ""

// -----

module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "", l1 = 131072, l2 = 4194304>}} {
  // expected-error @+1 {{'kernel.image' op expects to be the only image for "gpu"}}
  kernel.image for "gpu" code ""
  kernel.image for "gpu" code ""
}

// -----

module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "", l1 = 131072, l2 = 4194304>}} {
  // expected-error @+1 {{'kernel.image' op expects one binary for compute capability 90}}
  kernel.image for "gpu" code "" binaries [#kernel.binary<capability = 90, code = "a">, #kernel.binary<capability = 90, code = "b">]
}

// -----

// expected-error @+1 {{expected a compute capability in tenths, but got 9}}
kernel.image for "gpu" code "" binaries [#kernel.binary<capability = 9, code = "a">]

// -----

// expected-error @+1 {{expected code for compute capability 90}}
kernel.image for "gpu" code "" binaries [#kernel.binary<capability = 90, code = "">]

// -----

// expected-error @+1 {{expected columns, and a stride for each of the sizes}}
kernel.func @strides(tensor<2x3xf32> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [3, 2], strides = [1]>})

// -----

// expected-error @+1 {{expected a group of steps}}
kernel.func @steps(tensor<4xi8> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [4], strides = [1], group = 4>})

// -----

// expected-error @+1 {{expected the strides of a dense tensor}}
kernel.func @dense(tensor<2x3xf32> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [3, 2], strides = [1, 2]>})

// -----

// expected-error @+1 {{'kernel.func' op has a packing of 6 elements for 'tensor<2x4xf32>'}}
kernel.func @count(tensor<2x4xf32> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [3, 2], strides = [1, 3]>})

// -----

// The packing of a value that is not constant cannot be changed.
// expected-error @+1 {{'kernel.func' op has an argument with the unknown attribute "kernel.packing"}}
kernel.func @variable(tensor<2x3xf32> {kernel.packing = #kernel.packing<columns = 2, sizes = [3, 2], strides = [1, 3]>})

// -----

// A schedule is named with what it is for.
// expected-error @+1 {{'kernel.func' op expects 'way', 'hash' and 'count' of a kernel in 'kernel.schedule', but got {way = "direct:1x1:1x1x1"}}}
kernel.func @way(tensor<2xf32>) -> tensor<2xf32> attributes {kernel.schedule = {way = "direct:1x1:1x1x1"}}

// -----

// The work has a number for the arithmetic, for each tensor and for each result.
// expected-error @+1 {{'kernel.func' op expects the arithmetic of a kernel and the bytes of its tensors in 'kernel.work', but got affine_map<() -> (1, 2)>}}
kernel.func @work(tensor<2xf32>) -> tensor<2xf32> attributes {kernel.work = affine_map<() -> (1, 2)>}
