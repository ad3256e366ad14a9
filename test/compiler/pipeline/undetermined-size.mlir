// A named size must follow from a feed: a fetch, or a product of sizes, does not determine it.
// RUN: not tfc compile %s --emit=header 2>&1 | FileCheck %s

module @sizes {
  // CHECK: :[[# @LINE + 1]]:3: error: no feed of entry 'made' determines the size 'n'; expected a feed with a dimension that is a multiple of it
  dfg.entry @made(%x: tensor<?xf32, #dfg.dims<"m * n">> {dfg.name = "x"}, %y: tensor<?xf32, #dfg.dims<m>> {dfg.name = "y"})
      -> (tensor<?xf32, #dfg.dims<"m * n">> {dfg.name = "z"}) attributes {symbols = ["m", "n"]} {
    dfg.return %x : tensor<?xf32, #dfg.dims<"m * n">>
  }
}
