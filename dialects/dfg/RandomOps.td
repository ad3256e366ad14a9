//===- RandomOps.td - Random numbers from counters ------------------------===//

#ifndef TFC_DIALECTS_DFG_RANDOMOPS_TD
#define TFC_DIALECTS_DFG_RANDOMOPS_TD

include "dialects/dfg/DfgBase.td"

/// Readers derive it from names when a graph does not say it.
def Dfg_Seed : DefaultValuedOptionalAttr<I64Attr, "0">;

/// Draws by Philox 4x32-10. Element `i` (row-major) gets one block of four 32-bit words w0 to w3:
/// the counter's words 0 and 1 are the low and high half of `i`, words 2 and 3 those of the operand
/// `counter`; the key's words are the low and high half of `seed`. Every element is thus drawn
/// independently, and a graph with the same seeds and counters repeats its numbers on any machine.
///
/// A uniform number u in [0, 1) is (w0 >> 8) * 2^-24 for f32 and the narrower types, and ((w0 >> 5)
/// * 2^26 + (w1 >> 6)) * 2^-53 for f64; the next one, v, is computed likewise from w1, or from w2
/// and w3.
class Dfg_RandomOp<string mnemonic, string dtypes, dag extra> :
    Dfg_PureOp<mnemonic, [Dfg_ParallelRole, DeclareOpInterfaceMethods<Dfg_RandomOpInterface>]> {
  let arguments = !con((ins Dfg_CounterTensor:$counter, Dfg_DimsAttr:$shape,
                            OptionalAttr<Dfg_Dtype>:$dtype,
                            Dfg_Seed:$seed), extra);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$counter attr-dict `:` type($counter)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferRandom(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                         adaptor.getCounter().getType(), adaptor.getShape(), adaptor.getDtype(),
                         results);
    }
  }];
}

def Dfg_RandomUniformOp : Dfg_RandomOp<"random_uniform", "Float", (ins
    DefaultValuedOptionalAttr<F64Attr, "0.0">:$low,
    DefaultValuedOptionalAttr<F64Attr, "1.0">:$high)> {
  let summary = "Draws numbers from an interval";
  let description = [{
    `low + u * (high - low)`, from `low` to `high`, excluding `high` except by rounding; `high` is
    at least `low`; f32 by default. Philox 4x32-10 in counter mode: equal seeds and counters produce
    equal numbers.

    ```mlir
    %y = dfg.random_uniform %counter {shape = #dfg.dims<4, 8>, seed = 7 : i64} : tensor<i64>
    ```
  }];
  let hasVerifier = 1;
}

def Dfg_RandomNormalOp : Dfg_RandomOp<"random_normal", "Float", (ins
    DefaultValuedOptionalAttr<F64Attr, "0.0">:$mean,
    DefaultValuedOptionalAttr<F64Attr, "1.0">:$stddev)> {
  let summary = "Draws numbers from a normal distribution";
  let description = [{
    `mean + stddev * sqrt(-2 log(1 - u)) * cos(2 pi v)` (Box-Muller, only the
    cosine); f32 by default. Philox 4x32-10 in counter mode: equal seeds and
    counters produce equal numbers.

    ```mlir
    %y = dfg.random_normal %counter {shape = #dfg.dims<4, 8>, seed = 7 : i64} : tensor<i64>
    ```
  }];
  let hasVerifier = 1;
}

def Dfg_RandomTruncatedNormalOp : Dfg_RandomOp<"random_truncated_normal", "Float", (ins
    DefaultValuedOptionalAttr<F64Attr, "0.0">:$mean,
    DefaultValuedOptionalAttr<F64Attr, "1.0">:$stddev)> {
  let summary = "Draws numbers from a normal distribution without its tails";
  let description = [{
    The normal distribution within two standard deviations of `mean`, by
    inversion: `mean + stddev * sqrt(2) * erfinv((2 u - 1) * erf(sqrt(2)))`.
    Giles' polynomial approximates the inverse, refined by two Newton steps for
    f64. `stddev` is that of the whole distribution. f32 by default.

    ```mlir
    %y = dfg.random_truncated_normal %counter {shape = #dfg.dims<4, 8>, seed = 7 : i64} : tensor<i64>
    ```
  }];
  let hasVerifier = 1;
}

def Dfg_RandomIntegerOp : Dfg_RandomOp<"random_integer", "Integer", (ins
    DefaultValuedOptionalAttr<I64Attr, "0">:$low, I64Attr:$high)> {
  let summary = "Draws integers from a range";
  let description = [{
    `low + w0 * (high - low) // 2^32`: from `low` to `high`, excluding `high`;
    they are at most 2^32 apart; i32 by default. Philox 4x32-10 in counter mode:
    equal seeds and counters produce equal numbers.

    ```mlir
    %y = dfg.random_integer %counter {shape = #dfg.dims<4>, high = 10 : i64} : tensor<i64>
    ```
  }];
  let hasVerifier = 1;
}

def Dfg_RandomBernoulliOp : Dfg_RandomOp<"random_bernoulli", "Any", (ins F64Attr:$probability)> {
  let summary = "Draws true with a probability";
  let description = [{
    `u < probability`, which is from 0 to 1, as bool, or as 0 and 1 of a given dtype. Philox 4x32-10
    in counter mode: equal seeds and counters produce equal values.

    ```mlir
    %y = dfg.random_bernoulli %counter {shape = #dfg.dims<4>, probability = 0.9 : f64} : tensor<i64>
    ```
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_DFG_RANDOMOPS_TD
