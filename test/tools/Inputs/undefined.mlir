// A host function that calls an undefined function.
module @undefined {
  dfg.entry @e() {
    dfg.return
  }
  llvm.func @nowhere()
  llvm.func @tfc_entry_0_shapes(%symbols: !llvm.ptr, %dims: !llvm.ptr) { llvm.return }
  llvm.func @tfc_entry_0_arena(%symbols: !llvm.ptr) -> i64 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %c0 : i64
  }
  llvm.func @tfc_entry_0_run(%frame: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    llvm.call @nowhere() : () -> ()
    llvm.return %c0 : i32
  }
}
