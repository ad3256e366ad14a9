// Operations on devices with memory of their own become calls of the runtime. Arguments of a launch
// and scalars pass through the array at the start of the function.
// RUN: tfc-opt --tfc-lower-rt %s | FileCheck %s

// CHECK-LABEL: llvm.func @launch
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[N:.*]]: i64
// CHECK: %[[ARRAY:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.store %[[X]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_device_launch(%[[FRAME]], %{{.*}}, %[[N]], %[[ARRAY]], %{{.*}})
// CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br %[[OK]] weights([1048576, 1]), ^{{.*}}, ^[[RETURN:.*]](%[[STATUS]] : i32)
// CHECK: ^[[RETURN]](%[[RETURNED:.*]]: i32):
// CHECK: llvm.return %[[RETURNED]]
llvm.func @launch(%frame: !llvm.ptr, %x: !llvm.ptr, %n: i64) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  rt.device_launch %frame, grid 3(%n, %x) threads %n : i64, !llvm.ptr
  llvm.return %ok : i32
}

// CHECK-LABEL: llvm.func @scalars
// CHECK: %[[ARRAY:.*]] = llvm.alloca
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: llvm.call @tfc_rt_device_read(%{{.*}}, %[[ARRAY]], %{{.*}}, %[[BYTES]])
// CHECK: llvm.cond_br
// CHECK: %[[X:.*]] = llvm.load %[[ARRAY]] : !llvm.ptr -> f32
// CHECK: llvm.store %[[X]], %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.call @tfc_rt_device_upload(
// CHECK: llvm.cond_br
llvm.func @scalars(%frame: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  %value = rt.device_read %frame, %x : f32
  rt.device_write %frame, %x, %value : f32
  llvm.return %ok : i32
}

// CHECK-LABEL: llvm.func @moves
// CHECK: %[[W:.*]] = llvm.call @tfc_rt_device_constant(%{{.*}}, %{{.*}}) : (!llvm.ptr, i32) -> !llvm.ptr
// CHECK: llvm.call @tfc_rt_device_copy(%{{.*}}, %{{.*}}, %[[W]], %{{.*}})
// CHECK: llvm.mlir.constant(255 : i32)
// CHECK: llvm.call @tfc_rt_device_fill(
// CHECK: llvm.call @tfc_rt_device_upload(
// CHECK: llvm.call @tfc_rt_device_send(
llvm.func @moves(%frame: !llvm.ptr, %x: !llvm.ptr, %from: !llvm.ptr, %n: i64) -> i32 {
  %ok = llvm.mlir.constant(0 : i32) : i32
  %w = rt.device_constant %frame, 1
  rt.device_copy %frame, %x, %w, %n
  rt.device_fill %frame, %x, -1, %n
  rt.device_upload %frame, %x, %from, %n
  rt.device_send %frame, slot 0, %x, %n
  llvm.return %ok : i32
}
