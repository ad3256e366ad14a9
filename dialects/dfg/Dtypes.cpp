// Builds the table of dtypes from runtime/Dtypes.inc and looks them up, so that the compiler and
// the runtime agree on the element types and their names.
#include "dialects/dfg/Dtypes.h"

using namespace mlir;

namespace tfc::dfg {

static Type makeFloat(MLIRContext *context, unsigned bits) {
  if (bits == 16)
    return Float16Type::get(context);
  return bits == 32 ? Type(Float32Type::get(context)) : Type(Float64Type::get(context));
}

static Type makeBFloat(MLIRContext *context, unsigned) { return BFloat16Type::get(context); }
static Type makeBool(MLIRContext *context, unsigned) { return IntegerType::get(context, 1); }

static Type makeInt(MLIRContext *context, unsigned bits) { return IntegerType::get(context, bits); }

static Type makeUInt(MLIRContext *context, unsigned bits) {
  return IntegerType::get(context, bits, IntegerType::Unsigned);
}

static constexpr Dtype kDtypes[] = {
#define TFC_DTYPE(CODE, NAME, KIND, BITS, C, NUMPY, SAFETENSORS, LONG_NAME)                        \
  {TFC_##CODE,     NAME,      "TFC_" #CODE,                                                        \
   (BITS + 7) / 8, C,         NUMPY,                                                               \
   SAFETENSORS,    LONG_NAME, [](MLIRContext *context) { return make##KIND(context, BITS); }},
#include "runtime/Dtypes.inc"
};

llvm::ArrayRef<Dtype> getDtypes() { return kDtypes; }

const Dtype *findDtype(Type elementType) {
  for (const Dtype &dtype : kDtypes)
    if (dtype.elementType(elementType.getContext()) == elementType)
      return &dtype;
  return nullptr;
}

const Dtype &dtypeOf(Type elementType) {
  const Dtype *dtype = findDtype(elementType);
  assert(dtype && "not the element type of a dfg tensor");
  return *dtype;
}

const Dtype &dtypeOf(tfc_dtype code) { return kDtypes[code]; }

Type elementTypeNamed(MLIRContext *context, llvm::StringRef name,
                      llvm::StringLiteral Dtype::*column) {
  for (const Dtype &dtype : kDtypes)
    if (dtype.*column == name)
      return dtype.elementType(context);
  return {};
}

std::string toText(tfc_dtype dtype, llvm::ArrayRef<int64_t> shape) {
  std::string text = dtypeOf(dtype).name.str();
  if (shape.empty())
    return text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

} // namespace tfc::dfg
