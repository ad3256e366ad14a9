// Maps the numbers of ONNX's element types to types of dfg, or to the integers that store types
// that dfg lacks. These tables are the only place that knows the numbers.

#include "frontend/onnx/Dtypes.h"

#include "dialects/dfg/Dtypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

namespace {
/// A TensorProto.DataType, with the name of the type of dfg.
struct Dtype {
  int number;
  StringLiteral name, ours;
};
} // namespace

static constexpr Dtype kDtypes[] = {
    {1, "float", "f32"},      {2, "uint8", "u8"},         {3, "int8", "i8"},
    {4, "uint16", "u16"},     {5, "int16", "i16"},        {6, "int32", "i32"},
    {7, "int64", "i64"},      {8, "string", ""},          {9, "bool", "bool"},
    {10, "float16", "f16"},   {11, "double", "f64"},      {12, "uint32", "u32"},
    {13, "uint64", "u64"},    {14, "complex64", ""},      {15, "complex128", ""},
    {16, "bfloat16", "bf16"}, {17, "float8e4m3fn", ""},   {18, "float8e4m3fnuz", ""},
    {19, "float8e5m2", ""},   {20, "float8e5m2fnuz", ""}, {21, "uint4", ""},
    {22, "int4", ""},         {23, "float4e2m1", ""},     {24, "float8e8m0", ""},
    {25, "uint2", ""},        {26, "int2", ""},
};

namespace {
/// A type whose elements are stored as codes; integers have no format.
struct Coded {
  int number;
  unsigned bits;
  bool isSigned; // of the integers that hold the codes
  const fltSemantics &(*format)();
};
} // namespace

static constexpr Coded kCoded[] = {
    {17, 8, false, APFloat::Float8E4M3FN},
    {18, 8, false, APFloat::Float8E4M3FNUZ},
    {19, 8, false, APFloat::Float8E5M2},
    {20, 8, false, APFloat::Float8E5M2FNUZ},
    {21, 4, false, nullptr},
    {22, 4, true, nullptr},
    {23, 4, false, APFloat::Float4E2M1FN},
    {24, 8, false, APFloat::Float8E8M0FNU},
    {25, 2, false, nullptr},
    {26, 2, true, nullptr},
};

static const Coded *findCoded(int64_t number) {
  const Coded *found = find_if(kCoded, [&](const Coded &coded) { return coded.number == number; });
  return found == std::end(kCoded) ? nullptr : found;
}

bool isCoded(int64_t dtype) { return findCoded(dtype); }

Type codeTypeOf(MLIRContext *context, int64_t dtype) {
  auto sign = findCoded(dtype)->isSigned ? IntegerType::Signless : IntegerType::Unsigned;
  return IntegerType::get(context, 8, sign);
}

const fltSemantics *floatFormatOf(int64_t dtype) {
  const Coded *coded = findCoded(dtype);
  return coded->format ? &coded->format() : nullptr;
}

unsigned bitsOf(int64_t dtype) { return findCoded(dtype)->bits; }

static const Dtype *findDtype(int64_t number) {
  const Dtype *found = find_if(kDtypes, [&](const Dtype &dtype) { return dtype.number == number; });
  return found == std::end(kDtypes) ? nullptr : found;
}

std::string dtypeName(int64_t number) {
  const Dtype *dtype = findDtype(number);
  return dtype ? dtype->name.str() : "type " + std::to_string(number);
}

std::optional<int64_t> dtypeByName(StringRef name) {
  for (const Dtype &dtype : kDtypes)
    if (name.equals_insensitive(dtype.name))
      return dtype.number;
  return std::nullopt;
}

Type elementTypeOf(MLIRContext *context, int64_t number) {
  const Dtype *dtype = findDtype(number);
  return dtype && !dtype->ours.empty()
             ? dfg::elementTypeNamed(context, dtype->ours, &dfg::Dtype::name)
             : Type();
}

Type storedTypeOf(MLIRContext *context, int64_t number) {
  return isCoded(number) ? codeTypeOf(context, number) : elementTypeOf(context, number);
}

} // namespace tfc::onnx
