// Code that LLVM's code generator for GPUs cannot select is an error: it would end the process.
// RUN: tfc-opt --tfc-gpu-emit-image --split-input-file --verify-diagnostics %s -o /dev/null

#target = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64", l1 = 131072, l2 = 41943040>
module attributes {kernel.targets = {gpu = #target}} {
  module @device_code attributes {kernel.targets = {gpu = #target}} {
    // expected-error @+1 {{the code generator for GPUs lacks 'llvm.exp.f64' [not-yet]}}
    llvm.func ptx_kernelcc @exponential(%x: !llvm.ptr) {
      %0 = llvm.load %x : !llvm.ptr -> f64
      %1 = llvm.intr.exp(%0) : (f64) -> f64
      llvm.store %1, %x : f64, !llvm.ptr
      llvm.return
    }
    // expected-error @+1 {{the code generator for GPUs lacks remainders of floats [not-yet]}}
    llvm.func ptx_kernelcc @remainder(%x: !llvm.ptr, %y: f32) {
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.frem %0, %y : f32
      llvm.store %1, %x : f32, !llvm.ptr
      llvm.return
    }
    llvm.func @elsewhere(!llvm.ptr)
    // expected-error @+1 {{the code generator for GPUs lacks a definition of 'elsewhere' [not-yet]}}
    llvm.func ptx_kernelcc @undefined(%x: !llvm.ptr) {
      llvm.call @elsewhere(%x) : (!llvm.ptr) -> ()
      llvm.return
    }
    // expected-error @+1 {{the code generator for GPUs lacks divisions of integers of 128 bits [not-yet]}}
    llvm.func ptx_kernelcc @wide(%x: !llvm.ptr, %y: i128) {
      %0 = llvm.load %x : !llvm.ptr -> i128
      %1 = llvm.sdiv %0, %y : i128
      llvm.store %1, %x : i128, !llvm.ptr
      llvm.return
    }
  }
}

// -----

module {
  // expected-error @+1 {{expected the description of GPUs by tfc-gpu-attach-target}}
  module @device_code {
  }
}
