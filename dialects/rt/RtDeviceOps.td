//===- RtDeviceOps.td - Devices with memory of their own ------------------===//

#ifndef TFC_DIALECTS_RT_RTDEVICEOPS_TD
#define TFC_DIALECTS_RT_RTDEVICEOPS_TD

include "dialects/rt/RtBase.td"

/// An operation of a partition on a device with memory of its own. Such a device runs what it is
/// given in order; an operation that returns a value waits for it.
class Rt_DeviceOp<string mnemonic> : Rt_FallibleOp<mnemonic>;

def Rt_DeviceLaunchOp : Rt_DeviceOp<"device_launch"> {
  let summary = "Launches a grid of a kernel";
  let description = [{
    `grid` counts the grids of all kernels of the module (`kernel::gridsOf`).
    `arguments` are sizes and addresses in memory of the device. Without a thread
    there is no launch.

    ```mlir
    rt.device_launch %frame, grid 3(%n, %x, %scratch) threads %n : i64, !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$grid,
                       Variadic<AnyTypeOf<[Rt_Pointer, I64]>>:$arguments, I64:$threads);
  let assemblyFormat = [{
    $frame `,` `grid` $grid `(` $arguments `)` `threads` $threads attr-dict
    (`:` type($arguments)^)?
  }];
  let hasVerifier = 1;
}

def Rt_DeviceReadOp : Rt_DeviceOp<"device_read"> {
  let summary = "Reads a scalar in memory of the device";
  let description = [{
    ```mlir
    %x = rt.device_read %frame, %from : f32
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$from);
  let results = (outs AnyTypeOf<[AnyInteger, AnyFloat]>:$value);
  let assemblyFormat = "$frame `,` $from attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Rt_DeviceWriteOp : Rt_DeviceOp<"device_write"> {
  let summary = "Writes a scalar to memory of the device";
  let description = [{
    ```mlir
    rt.device_write %frame, %to, %x : f32
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$to,
                       AnyTypeOf<[AnyInteger, AnyFloat]>:$value);
  let assemblyFormat = "$frame `,` $to `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Rt_DeviceCopyOp : Rt_DeviceOp<"device_copy"> {
  let summary = "Copies within memory of the device";
  let description = [{
    ```mlir
    rt.device_copy %frame, %to, %from, %bytes
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$to, Rt_Pointer:$from, I64:$bytes);
  let assemblyFormat = "$frame `,` $to `,` $from `,` $bytes attr-dict";
}

def Rt_DeviceFillOp : Rt_DeviceOp<"device_fill"> {
  let summary = "Fills memory of the device with a byte";
  let description = [{
    ```mlir
    rt.device_fill %frame, %to, 0, %bytes
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$to, I8Attr:$byte, I64:$bytes);
  let assemblyFormat = "$frame `,` $to `,` $byte `,` $bytes attr-dict";
}

def Rt_DeviceUploadOp : Rt_DeviceOp<"device_upload"> {
  let summary = "Copies from memory of the host to memory of the device";
  let description = [{
    The memory of the host is free afterwards.

    ```mlir
    rt.device_upload %frame, %to, %from, %bytes
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$to, Rt_Pointer:$from, I64:$bytes);
  let assemblyFormat = "$frame `,` $to `,` $from `,` $bytes attr-dict";
}

def Rt_DeviceSendOp : Rt_DeviceOp<"device_send"> {
  let summary = "Sends a message from memory of the device";
  let description = [{
    The receiver gets the address of a copy in memory of the host, so that the
    memory of the device is free afterwards.

    ```mlir
    rt.device_send %frame, slot 3, %x, %bytes
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot, Rt_Pointer:$from, I64:$bytes);
  let assemblyFormat = "$frame `,` `slot` $slot `,` $from `,` $bytes attr-dict";
  let hasVerifier = 1;
}

def Rt_DeviceConstantOp : Rt_Op<"device_constant", [Pure]> {
  let summary = "Returns the address of a constant in memory of the device";
  let description = [{
    The number is that of an element of `rt.copied_constants` of the module.

    ```mlir
    %w = rt.device_constant %frame, 3
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$number);
  let results = (outs Rt_Pointer:$address);
  let assemblyFormat = "$frame `,` $number attr-dict";
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_RT_RTDEVICEOPS_TD
