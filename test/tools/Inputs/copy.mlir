// A model as the memory stage leaves it: its description in dfg, its code in the LLVM dialect.
// `twice` doubles its feed; `count` adds 1 to the variable `steps` and returns it.
module @copy attributes {dfg.weights = [dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, dense<2.0> : tensor<16xf32>]} {
  dfg.variable @steps : tensor<i32> {formerly = "counter"}
  dfg.entry @twice(%x: tensor<?x2xf32, #dfg.dims<n, 2>> {dfg.name = "x"})
      -> (tensor<?x2xf32, #dfg.dims<n, 2>> {dfg.name = "double"})
      attributes {symbols = ["n"], bounds = {n = 8 : i64}, where = [#dfg.fact<"n >= 1">], doc = "Doubles x.\nAll of it."} {
    dfg.return %x : tensor<?x2xf32, #dfg.dims<n, 2>>
  }
  dfg.entry @count() -> (tensor<i32> {dfg.name = "return"}) {
    %0 = dfg.read @steps : tensor<i32>
    %1 = dfg.assign @steps, %0 : tensor<i32>
    dfg.return %1 : tensor<i32>
  }
  dfg.entry @init() attributes {initializer} {
    dfg.return
  }

  llvm.mlir.global external hidden constant @tfc_weights() {addr_space = 0 : i32} : !llvm.array<0 x i8>
  llvm.mlir.global internal constant @offset(64 : i64) : i64
  llvm.func @tfc_rt_parallel_for(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)

  // Multiplies by the second weight, which holds 2.0 sixteen times.
  llvm.func @kernel_0(%n: i64, %x: !llvm.ptr, %y: !llvm.ptr, %scratch: !llvm.ptr, %begin: i64, %end: i64)
      attributes {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 1, scratch = affine_map<()[s0] -> (0)>>} {
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %weights = llvm.mlir.addressof @tfc_weights : !llvm.ptr
    %offsetAddress = llvm.mlir.addressof @offset : !llvm.ptr
    %offset = llvm.load %offsetAddress : !llvm.ptr -> i64
    %place = llvm.getelementptr %weights[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %factor = llvm.load %place : !llvm.ptr -> f32
    llvm.br ^head(%begin : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %xi = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %yi = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %xi : !llvm.ptr -> f32
    %w = llvm.fmul %v, %factor : f32
    llvm.store %w, %yi : f32, !llvm.ptr
    %next = llvm.add %i, %c1 : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
  llvm.func @kernel_0.task(%context: !llvm.ptr, %begin: i64, %end: i64) {
    %n = llvm.load %context : !llvm.ptr -> i64
    %xp = llvm.getelementptr %context[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %yp = llvm.getelementptr %context[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %x = llvm.load %xp : !llvm.ptr -> !llvm.ptr
    %y = llvm.load %yp : !llvm.ptr -> !llvm.ptr
    llvm.call @kernel_0(%n, %x, %y, %y, %begin, %end) : (i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.return
  }

  llvm.func @tfc_entry_0_shapes(%symbols: !llvm.ptr, %dims: !llvm.ptr) {
    %c2 = llvm.mlir.constant(2 : i64) : i64
    %n = llvm.load %symbols : !llvm.ptr -> i64
    %d1 = llvm.getelementptr %dims[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %d2 = llvm.getelementptr %dims[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %d3 = llvm.getelementptr %dims[3] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %n, %dims : i64, !llvm.ptr
    llvm.store %c2, %d1 : i64, !llvm.ptr
    llvm.store %n, %d2 : i64, !llvm.ptr
    llvm.store %c2, %d3 : i64, !llvm.ptr
    llvm.return
  }
  llvm.func @tfc_entry_0_arena(%symbols: !llvm.ptr) -> i64 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %c0 : i64
  }
  llvm.func @tfc_entry_0_run(%frame: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %c2 = llvm.mlir.constant(2 : i64) : i64
    %c64 = llvm.mlir.constant(64 : i64) : i64
    %feedsAt = llvm.getelementptr %frame[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %fetchesAt = llvm.getelementptr %frame[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %symbolsAt = llvm.getelementptr %frame[40] : (!llvm.ptr) -> !llvm.ptr, i8
    %feeds = llvm.load %feedsAt : !llvm.ptr -> !llvm.ptr
    %fetches = llvm.load %fetchesAt : !llvm.ptr -> !llvm.ptr
    %symbols = llvm.load %symbolsAt : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %feeds : !llvm.ptr -> !llvm.ptr
    %y = llvm.load %fetches : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %symbols : !llvm.ptr -> i64
    %count = llvm.mul %n, %c2 : i64
    %context = llvm.alloca %c64 x i8 : (i64) -> !llvm.ptr
    %xAt = llvm.getelementptr %context[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %yAt = llvm.getelementptr %context[16] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %n, %context : i64, !llvm.ptr
    llvm.store %x, %xAt : !llvm.ptr, !llvm.ptr
    llvm.store %y, %yAt : !llvm.ptr, !llvm.ptr
    %task = llvm.mlir.addressof @kernel_0.task : !llvm.ptr
    llvm.call @tfc_rt_parallel_for(%frame, %task, %context, %count, %c1) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.return %c0 : i32
  }

  llvm.func @tfc_entry_1_shapes(%symbols: !llvm.ptr, %dims: !llvm.ptr) { llvm.return }
  llvm.func @tfc_entry_1_arena(%symbols: !llvm.ptr) -> i64 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %c0 : i64
  }
  llvm.func @tfc_entry_1_run(%frame: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %fetchesAt = llvm.getelementptr %frame[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %variablesAt = llvm.getelementptr %frame[32] : (!llvm.ptr) -> !llvm.ptr, i8
    %fetches = llvm.load %fetchesAt : !llvm.ptr -> !llvm.ptr
    %variables = llvm.load %variablesAt : !llvm.ptr -> !llvm.ptr
    %y = llvm.load %fetches : !llvm.ptr -> !llvm.ptr
    %steps = llvm.load %variables : !llvm.ptr -> !llvm.ptr
    %old = llvm.load %steps : !llvm.ptr -> i32
    %new = llvm.add %old, %c1 : i32
    llvm.store %new, %steps : i32, !llvm.ptr
    llvm.store %new, %y : i32, !llvm.ptr
    llvm.return %c0 : i32
  }

  llvm.func @tfc_entry_2_shapes(%symbols: !llvm.ptr, %dims: !llvm.ptr) { llvm.return }
  llvm.func @tfc_entry_2_arena(%symbols: !llvm.ptr) -> i64 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %c0 : i64
  }
  llvm.func @tfc_entry_2_run(%frame: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c40 = llvm.mlir.constant(40 : i32) : i32
    %variablesAt = llvm.getelementptr %frame[32] : (!llvm.ptr) -> !llvm.ptr, i8
    %variables = llvm.load %variablesAt : !llvm.ptr -> !llvm.ptr
    %steps = llvm.load %variables : !llvm.ptr -> !llvm.ptr
    llvm.store %c40, %steps : i32, !llvm.ptr
    llvm.return %c0 : i32
  }
}
