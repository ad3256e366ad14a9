// Operations of rt are lowered only between blocks of a function, and call only functions of the runtime.
// RUN: tfc-opt --tfc-lower-rt --split-input-file --verify-diagnostics %s -o /dev/null

llvm.func @region(%frame: !llvm.ptr, %holds: i1) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  scf.if %holds {
    // expected-error @+1 {{expects the regions around it to be lowered to branches first}}
    rt.check %frame, %holds else out_of_range "no"
  }
  llvm.return %ok : i32
}

// -----

func.func @function(%frame: !llvm.ptr) -> !llvm.ptr {
  // expected-error @+1 {{expects to be in an 'llvm.func' of the module}}
  %feeds = rt.field %frame[feeds]
  return %feeds : !llvm.ptr
}

// -----

// expected-note @+1 {{the module has another symbol of this name}}
llvm.func @tfc_rt_queue_size(!llvm.ptr) -> i32
llvm.func @other(%frame: !llvm.ptr) -> i32 {
  // expected-error @+1 {{expects '@tfc_rt_queue_size' to be the runtime's}}
  %size = rt.queue_size %frame, queue 0
  llvm.return %size : i32
}
