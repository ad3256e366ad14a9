//===- Kernel.td - Kernels in linalg form and their code ------------------===//

#ifndef TFC_DIALECTS_KERNEL_KERNEL_TD
#define TFC_DIALECTS_KERNEL_KERNEL_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::tfc::kernel";
  let summary = "Kernels between the graph and the code of a target";
  let description = [{
    Lowering turns each `dfg.kernel` into a `kernel.func`: a function of sizes
    and tensors in linalg form. Code generation replaces it by a function for
    its target with a `#kernel.abi`, which determines how the host launches it.
    Arguments and results of a kernel have these attributes:

    * `kernel.shape`: the sizes of a dynamic tensor, an affine map over the
      kernel's sizes.
    * `kernel.constant`, of an argument: all launches pass constants that nothing else
      reads, so that code generation may choose the order of their elements.
    * `kernel.packing`, of such an argument: this order.
    * `kernel.may_share`, of a result: the tensor arguments whose memory the
      result may reuse, because every read of an element happens before it is
      overwritten. Determined by the schedule of the kernel.
    * `kernel.in_place`, of a result: the tensor argument that it overwrites.
      Determined by the memory plan.

    Tensor arguments are counted without the sizes before them.

    `kernel.work`, of a kernel that `tfc profile` records and of its code, is an affine map over the
    sizes: the arithmetic, the bytes that it reads of each tensor argument and those that it writes
    of each result.

    `kernel.schedule`, of a kernel, names the way in which its product is computed, `way`, among the
    `count` that its target has for it; `hash` is one of what the kernel computes. Without it, or
    with an unknown name, a cost model chooses.

    `kernel.from_library`, of a function of a float, leaves it to the C library
    although code generation has a polynomial for most of its arguments.

    `kernel.targets` of the module describes the targets of its kernels by name:

    ```mlir
    module attributes {kernel.targets = {cpu = #kernel.target<
        triple = "x86_64-pc-linux-gnu", processor = "x86-64-v3", features = "+avx2,+fma",
        layout = "e-m:e-i64:64", l1 = 32768, l2 = 524288>}} {
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Kernel_PackingAttr : AttrDef<Kernel_Dialect, "Packing"> {
  let mnemonic = "packing";
  let summary = "The order of the elements of a constant that products read";
  let description = [{
    The dimension of the columns comes first in `sizes` and `strides`, then those of the
    steps of the sum from the outermost on. A panel has `columns` columns, the last one
    what is left. Panels follow each other; in a panel the steps, and in a step the
    columns. `strides` say where the elements are in row-major order.

    With a `group`, so many steps along the innermost dimension follow each other for
    each column, as instructions for products of bytes read them. Steps that are left
    have no group.

    ```mlir
    #kernel.packing<columns = 64, sizes = [256, 3, 3, 64], strides = [1, 49152, 16384, 256]>
    #kernel.packing<columns = 64, sizes = [256, 64], strides = [1, 256], group = 4>
    ```
  }];
  let parameters = (ins "int64_t":$columns, ArrayRefParameter<"int64_t">:$sizes,
                        ArrayRefParameter<"int64_t">:$strides,
                        DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = [{
    `<` `columns` `=` $columns `,` `sizes` `=` `[` $sizes `]` `,` `strides` `=` `[` $strides `]`
    (`,` `group` `=` $group^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Kernel_TargetAttr : AttrDef<Kernel_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "Describes a target of code generation";
  let description = [{
    The triple, the processor, its features and the data layout in LLVM's terms,
    and the sizes in bytes of the first- and second-level caches of a core. A
    target `withoutProducts` emits sums of products like all other operations,
    which helps to find errors in their dedicated emitter. `factors`, tf32 or bf16,
    is the type to which products of f32 may round their factors; none is f32.
  }];
  let parameters = (ins StringRefParameter<>:$triple, StringRefParameter<>:$processor,
                        StringRefParameter<>:$features, StringRefParameter<>:$layout,
                        "int64_t":$l1, "int64_t":$l2,
                        OptionalParameter<"::mlir::UnitAttr">:$withoutProducts,
                        OptionalParameter<"::mlir::Type">:$factors);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool isGpu() const;
  }];
  let genVerifyDecl = 1;
}

def Kernel_GridAttr : AttrDef<Kernel_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "A launch of a function on a GPU";
  let description = [{
    `name` is that of a function of an image. `threads` are at least this many, over
    the sizes of the kernel, in blocks of `block` threads; no thread means no launch.

    ```mlir
    #kernel.grid<"kernel_3_0", threads = affine_map<()[s0] -> (s0)>, block = 256>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::AffineMapAttr":$threads,
                        "int64_t":$block);
  let assemblyFormat = "`<` $name `,` `threads` `=` $threads `,` `block` `=` $block `>`";
  let genVerifyDecl = 1;
}

def Kernel_BinaryAttr : AttrDef<Kernel_Dialect, "Binary"> {
  let mnemonic = "binary";
  let summary = "The code of an image, assembled for one generation of GPUs";
  let description = [{
    GPUs of compute capability `capability`, counted in tenths, run the code, and so
    do those with the same first digit and a larger second one.

    ```mlir
    #kernel.binary<capability = 90, code = "\7FELF">
    ```
  }];
  let parameters = (ins "int64_t":$capability, "::mlir::StringAttr":$code);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_AbiAttr : AttrDef<Kernel_Dialect, "Abi"> {
  let mnemonic = "abi";
  let summary = "How the host launches the code of a kernel";
  let description = [{
    The attribute `kernel.abi` of a generated function. The function takes the
    sizes of the launch, pointers to operands, to results that are not in place
    and to scratch memory, and a range of units. That of a GPU has no range of
    units, but a pointer to the guard if the kernel is guarded.

    * `extent`: the number of units of a launch, over its sizes.
    * `grain`: the smallest number of units that is worth a thread.
    * `scratch`: bytes of memory that a launch needs besides its operands, over
      its sizes.
    * `target`: the name of the module's target whose code this is, `cpu` by
      default.
    * `grids`: for a GPU, the functions of the target's `kernel.image` to launch,
      one after the other. Each takes the same arguments without the units. The
      function with this attribute is then a declaration.

    ```mlir
    #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 128, scratch = affine_map<()[s0] -> (s0 * 4)>>
    #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>, target = "gpu",
                grids = [<"kernel_3_0", threads = affine_map<()[s0] -> (s0)>, block = 256>]>
    ```
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$extent, "int64_t":$grain,
                        "::mlir::AffineMapAttr":$scratch,
                        OptionalParameter<"::mlir::StringAttr">:$target,
                        OptionalArrayRefParameter<"::tfc::kernel::GridAttr">:$grids);
  let assemblyFormat = [{
    `<` `extent` `=` $extent `,` `grain` `=` $grain `,` `scratch` `=` $scratch
    (`,` `target` `=` $target^)? (`,` `grids` `=` `[` $grids^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_FuncOp : Kernel_Op<"func", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "Defines a kernel in linalg form";
  let description = [{
    Takes sizes (`index`), then tensors, and returns tensors. `symbols` are the
    names of the sizes in the `dfg.kernel` that it was lowered from. `target` is
    the name of one of the module's targets and defaults to `cpu`. A launch of a
    `guarded` kernel has a bool on the device, which its code tests before it
    writes anything. Kernels are visible only in their module; a kernel without a
    body is a declaration.

    ```mlir
    kernel.func @twice(%n: index, %x: tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>})
        -> (tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>}) attributes {symbols = ["n"]} {
      %e = tensor.empty(%n) : tensor<?xf32>
      %y = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>)
          -> tensor<?xf32>
      kernel.return %y : tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrArrayAttr>:$symbols, OptionalAttr<StrAttr>:$target,
                       UnitAttr:$guarded);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  // Creates the function with its entry block.
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::mlir::SymbolTable::Visibility getVisibility() {
      return ::mlir::SymbolTable::Visibility::Private;
    }

    /// Returns the target that the kernel is compiled for, or null if the module does not describe
    /// it.
    ::tfc::kernel::TargetAttr getTargetDescription();

    /// Returns the number of arguments that are sizes, and of the others.
    unsigned getNumSizes();
    unsigned getNumTensors() { return getNumArguments() - getNumSizes(); }

    /// Returns the sizes of an argument or a result over the kernel's sizes; null for static
    /// shapes.
    ::mlir::AffineMapAttr getArgShape(unsigned argument);
    ::mlir::AffineMapAttr getResultShape(unsigned result);

    /// Returns true if all launches pass constants as a tensor argument that nothing else reads.
    bool isConstant(unsigned tensor);
    void setConstant(unsigned tensor);

    /// Returns the order of the elements of such an argument; null if it is row-major.
    ::tfc::kernel::PackingAttr getPacking(unsigned tensor);
    void setPacking(unsigned tensor, ::tfc::kernel::PackingAttr packing);

    /// Returns true if `result` may reuse the memory of tensor argument `tensor`.
    bool mayShare(unsigned result, unsigned tensor);
    void setMayShare(unsigned result, ::llvm::ArrayRef<int32_t> tensors);

    /// Returns the tensor argument that `result` overwrites, if any.
    std::optional<unsigned> getInPlace(unsigned result);
    void setInPlace(unsigned result, unsigned tensor);
  }];
  let hasVerifier = 1;
}

def Kernel_ReturnOp : Kernel_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "Ends a kernel with its results";
  let description = [{
    ```mlir
    kernel.return %y : tensor<?xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Kernel_BinaryArrayAttr : TypedArrayAttrBase<Kernel_BinaryAttr, "binaries of an image">;

def Kernel_ImageOp : Kernel_Op<"image"> {
  let summary = "The code of all kernels of a target that is no CPU";
  let description = [{
    `code` is a text or a file in the form that the driver of the target loads: PTX for
    a GPU of NVIDIA. `binaries` are made from it and need not be compiled when a program
    runs; other GPUs use `code`. The library embeds all of them. There is at most one
    image for a target, and one binary for a capability.

    ```mlir
    kernel.image for "gpu" code ".version 7.0\0A.target sm_80\0A"
    kernel.image for "gpu" code ".version 7.0\0A.target sm_80\0A"
        binaries [#kernel.binary<capability = 90, code = "\7FELF">]
    ```
  }];
  let arguments = (ins StrAttr:$target, StrAttr:$code,
                       OptionalAttr<Kernel_BinaryArrayAttr>:$binaries);
  let assemblyFormat = "`for` $target `code` $code (`binaries` $binaries^)? attr-dict";
  let extraClassDeclaration = [{
    auto getKnownBinaries() {
      ::mlir::ArrayAttr all = getBinariesAttr();
      return (all ? all : ::mlir::ArrayAttr::get(getContext(), {})).getAsRange<BinaryAttr>();
    }
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_KERNEL_KERNEL_TD
