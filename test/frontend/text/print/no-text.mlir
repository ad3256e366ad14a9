// A name that is not allowed in backquotes cannot be written, and neither can a module without declarations.
// RUN: split-file %s %t
// RUN: not tfc compile %t/quote.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=QUOTE
// RUN: not tfc compile %t/empty.mlir --emit=graph 2>&1 | FileCheck %s --check-prefix=EMPTY
// QUOTE: quote.mlir:2:3: error: the name 'a`b' cannot be written in backquotes [no-text]
// EMPTY: empty.mlir:1:1: error: the graph has no entries and no state: its file would declare nothing [no-text]
//--- quote.mlir
module {
  dfg.entry @"a`b"() {
    dfg.return
  }
}
//--- empty.mlir
module {
}
