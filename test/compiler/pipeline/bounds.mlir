// Facts about one size become its bounds; other facts are listed as written.
// RUN: tfc compile %s --emit=header | FileCheck %s

module @bounds {
  // CHECK: /// n: a size, at least 3 and at most 40
  // CHECK-NEXT: /// m: a size, at least 4 and at most 4
  // CHECK-NEXT: /// in  x: f32[2 * n + 1, m]
  // CHECK-NEXT: /// out y: f32[2 * n + 1, m]
  // CHECK-NEXT: /// where n % 2 == 1
  // CHECK-NEXT: /// where m <= n
  dfg.entry @same(%x: tensor<?x?xf32, #dfg.dims<"2 * n + 1", m>> {dfg.name = "x"})
      -> (tensor<?x?xf32, #dfg.dims<"2 * n + 1", m>> {dfg.name = "y"})
      attributes {symbols = ["n", "m"], bounds = {n = 50 : i64},
                  where = [#dfg.fact<"2 * n >= 5">, #dfg.fact<"n % 2 == 1">, #dfg.fact<"n < 41">, #dfg.fact<"m == 4">, #dfg.fact<"m <= n">]} {
    dfg.return %x : tensor<?x?xf32, #dfg.dims<"2 * n + 1", m>>
  }
}
