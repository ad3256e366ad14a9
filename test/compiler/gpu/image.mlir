// The functions of the device become PTX for compute capability 8.0.
// REQUIRES: libclc
// RUN: tfc-opt --tfc-gpu-lower %s | FileCheck %s

// CHECK-NOT: module @device_code
// CHECK: kernel.image for "gpu" code {{.*}}.version 7.0\0A.target sm_80
// Denormals of f32 are zeros, and those of f64 are not.
// CHECK-SAME: .visible .entry twice(
// CHECK-SAME: add.rn.ftz.f32
// CHECK-SAME: add.rn.f64
// A tangent has no polynomial here; its function is inlined.
// CHECK-SAME: .visible .entry tangent(
// CHECK-NOT: call
#target = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "+ptx70", layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64", l1 = 131072, l2 = 41943040>
module attributes {kernel.targets = {gpu = #target}} {
  module @device_code attributes {kernel.targets = {gpu = #target}} {
    llvm.func ptx_kernelcc @twice(%x: !llvm.ptr, %y: !llvm.ptr) {
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = arith.addf %0, %0 : f32
      llvm.store %1, %x : f32, !llvm.ptr
      %2 = llvm.load %y : !llvm.ptr -> f64
      %3 = arith.addf %2, %2 : f64
      llvm.store %3, %y : f64, !llvm.ptr
      llvm.return
    }
    llvm.func ptx_kernelcc @tangent(%x: !llvm.ptr) {
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = math.tan %0 : f32
      llvm.store %1, %x : f32, !llvm.ptr
      llvm.return
    }
  }
}
