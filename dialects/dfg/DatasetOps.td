//===- DatasetOps.td - Rows of files --------------------------------------===//

#ifndef TFC_DIALECTS_DFG_DATASETOPS_TD
#define TFC_DIALECTS_DFG_DATASETOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Dfg_DatasetOp : Dfg_Op<"dataset", [Symbol, Dfg_DeclarationRole]> {
  let summary = "Declares the rows of files";
  let description = [{
    A row has one tensor for each of `components`, with the names `names`. The
    rows of several files follow each other, in the order of `paths`; the
    program may name other files at run time. `format` says what a file is:

    * `csv`: a line is a row. Its numbers are the elements of the components in
      their order, separated by commas. `skip` lines come first.
    * `npy`: each component has a file of its own, an array whose first axis
      counts rows.
    * `safetensors`: one file has a tensor for each component, with its name,
      whose first axis counts rows.
    * `tfrecord`: a record is a `tf.Example`, whose features have the names of
      components. Shorter lists are followed by zeros.
    * `raw`: a row has the bytes of the components, without gaps, after `skip`
      bytes at the beginning of the file.

    ```mlir
    dfg.dataset @digits : [tensor<64xf32>, tensor<i32>]
        {names = ["pixels", "label"], format = #dfg.dataset_format<csv>,
         paths = ["digits.csv"], skip = 1 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$components, StrArrayAttr:$names,
                       Dfg_DatasetFormatAttr:$format, StrArrayAttr:$paths,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$skip);
  let assemblyFormat = "$sym_name `:` $components attr-dict";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::RankedTensorType> getTensorTypes();
  }];
  let hasVerifier = 1;
}

class Dfg_DatasetAccess<string mnemonic, list<Trait> traits = []> :
    Dfg_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dfg_StepRole], traits)>;

def Dfg_ReadRowsOp : Dfg_DatasetAccess<"read_rows"> {
  let summary = "Reads rows of a dataset by their numbers";
  let description = [{
    The results have the shape of `rows`, followed by that of the component. A
    negative number stands for a row of zeros; one that is not below the number
    of rows fails the call, and so does a file that cannot be read. `next` are
    rows that will be wanted soon: they are read meanwhile, by another thread.
    They may be any numbers.

    ```mlir
    %pixels, %label = dfg.read_rows @digits(%rows) next %more
        : tensor<32xi64> next tensor<32xi64> -> tensor<32x64xf32>, tensor<32xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$dataset, Dfg_I64Tensor:$rows,
                       Optional<Dfg_I64Tensor>:$next);
  let results = (outs Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = [{
    $dataset `(` $rows `)` (`next` $next^)? attr-dict `:` type($rows) (`next` type($next)^)?
    `->` type($values)
  }];
}

def Dfg_DatasetSizeOp : Dfg_DatasetAccess<"dataset_size"> {
  let summary = "Returns the number of rows of a dataset";
  let description = [{
    ```mlir
    %n = dfg.dataset_size @digits : tensor<i64>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$dataset);
  let results = (outs Dfg_Tensor:$size);
  let assemblyFormat = "$dataset attr-dict `:` type($size)";
}

#endif // TFC_DIALECTS_DFG_DATASETOPS_TD
