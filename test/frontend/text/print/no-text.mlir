// A name that cannot stand in backquotes has no text, nor has a module that declares nothing.
// RUN: split-file %s %t
// RUN: not tfc compile %t/quote.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=QUOTE
// RUN: not tfc compile %t/empty.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=EMPTY
// QUOTE: quote.mlir:2:3: error: the name 'a`b' cannot be written in backquotes [no-text]
// EMPTY: empty.mlir:1:1: error: the graph has no entries and no state: a file of it would declare nothing [no-text]
//--- quote.mlir
module {
  dfg.entry @"a`b"() {
    dfg.return
  }
}
//--- empty.mlir
module {
}
