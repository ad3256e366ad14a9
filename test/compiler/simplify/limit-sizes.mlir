// An entry lists the sizes and byte counts that its bounds do not limit, each once.
// RUN: tfc-opt --tfc-limit-sizes %s | FileCheck %s

// Bytes of the product, and the sizes themselves, because another axis may have no elements.
// CHECK-LABEL: dfg.entry @outer
// CHECK-SAME: limits = [#dfg.limit<memory : <"4 * n", "4 * m", n, "4 * m * n", m>>]
dfg.entry @outer(%x: tensor<?xf32, #dfg.dims<n>>, %y: tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
    attributes {symbols = ["n", "m"]} {
  %0 = dfg.reshape %x {shape = #dfg.dims<n, 1>} : tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.mul %0, %y : tensor<?x1xf32, #dfg.dims<n, 1>>, tensor<?xf32, #dfg.dims<m>>
  %2 = dfg.sum %1 : tensor<?x?xf32, #dfg.dims<n, m>>
  dfg.return %2 : tensor<f32>
}

// CHECK-LABEL: dfg.entry @bounded
// CHECK-NOT: limits
dfg.entry @bounded(%x: tensor<?xf32, #dfg.dims<n>>, %y: tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
    attributes {symbols = ["n", "m"], bounds = {n = 65536 : i64, m = 65536 : i64}} {
  %0 = dfg.reshape %x {shape = #dfg.dims<n, 1>} : tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.mul %0, %y : tensor<?x1xf32, #dfg.dims<n, 1>>, tensor<?xf32, #dfg.dims<m>>
  %2 = dfg.sum %1 : tensor<?x?xf32, #dfg.dims<n, m>>
  dfg.return %2 : tensor<f32>
}

// Bounds may allow too much.
// CHECK-LABEL: dfg.entry @loose
// CHECK-SAME: limits = [#dfg.limit<memory : <"4 * n">>]
dfg.entry @loose(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
    attributes {symbols = ["n"], bounds = {n = 4611686018427387904 : i64}} {
  dfg.return %x : tensor<?xf32, #dfg.dims<n>>
}

// Positions need to fit their type: the last one of a count, and the size where a search finds nothing.
// CHECK-LABEL: dfg.entry @positions
// CHECK-SAME: #dfg.limit<u8 : <"n - 1">>, #dfg.limit<i32 : <n>>
dfg.entry @positions(%x: tensor<?x0xf32, #dfg.dims<n, 0>>) -> (tensor<0x1xi32>, tensor<?xui8, #dfg.dims<n>>)
    attributes {symbols = ["n"]} {
  %0 = dfg.arg_top_k %x {k = #dfg.dims<1>, axis = 0 : i64} : tensor<?x0xf32, #dfg.dims<n, 0>>
  %1 = dfg.reshape %0 {shape = #dfg.dims<0, 1>} : tensor<1x0xi32>
  %2 = dfg.iota {size = #dfg.dims<n>, dtype = ui8}
  dfg.return %1, %2 : tensor<0x1xi32>, tensor<?xui8, #dfg.dims<n>>
}

// The value of a size has to fit the type of the number that holds it, and takes no memory.
// CHECK-LABEL: dfg.entry @numbers
// CHECK-SAME: #dfg.limit<i32 : <m>>, #dfg.limit<i64 : <"m * n">>
dfg.entry @numbers(%x: tensor<?x0xf32, #dfg.dims<n, 0>>, %y: tensor<?x0xf32, #dfg.dims<m, 0>>) -> (tensor<i64>, tensor<i32>, tensor<i64>)
    attributes {symbols = ["n", "m"], bounds = {n = 1048576 : i64}} {
  %0 = dfg.size {value = #dfg.dims<"m * n">, dtype = i64}
  %1 = dfg.size {value = #dfg.dims<m>, dtype = i32}
  %2 = dfg.size {value = #dfg.dims<"72057594037927937 + n">, dtype = i64}
  dfg.return %0, %1, %2 : tensor<i64>, tensor<i32>, tensor<i64>
}

// The value of a data-dependent size is checked where the size is bound, once for each type; only i64 has to hold
// its upper bound.
// CHECK-LABEL: dfg.entry @data_dependent
// CHECK-NOT: #dfg.limit<i32
// CHECK-SAME: #dfg.limit<i64 : <"4 * n">>
// CHECK: dfg.bind_size
// CHECK-NEXT: %[[LAST:.*]] = dfg.size {dtype = i64, value = #dfg.dims<"4 * q">}
// CHECK: %[[MOST:.*]] = dfg.constant dense<2147483647>
// CHECK-NEXT: %[[FITS:.*]] = dfg.less_equal %[[LAST]], %[[MOST]]
// CHECK-NEXT: dfg.check %[[FITS]], "the size 4 * q at limit-sizes.mlir:{{[0-9]+}} is out of range for i32: q is %lld"(%{{.*}} : tensor<i64>) :
// CHECK-NOT: dfg.check
dfg.entry @data_dependent(%x: tensor<?x0xf32, #dfg.dims<n, 0>>, %count: tensor<i64>, %p: tensor<i1>) -> tensor<i32>
    attributes {symbols = ["n"]} {
  dfg.bind_size %count {size = #dfg.dims<q>, bound = #dfg.dims<n>} : tensor<i64>
  %0 = dfg.size {value = #dfg.dims<"4 * q">, dtype = i32}
  %1 = dfg.size {value = #dfg.dims<"4 * q">, dtype = i32}
  %2 = dfg.add %0, %1 : tensor<i32>, tensor<i32>
  dfg.return %2 : tensor<i32>
}
