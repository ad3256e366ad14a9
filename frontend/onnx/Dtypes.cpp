// Holds the table of element types.

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
    {4, "uint16", ""},        {5, "int16", "i16"},        {6, "int32", "i32"},
    {7, "int64", "i64"},      {8, "string", ""},          {9, "bool", "bool"},
    {10, "float16", "f16"},   {11, "double", "f64"},      {12, "uint32", ""},
    {13, "uint64", ""},       {14, "complex64", ""},      {15, "complex128", ""},
    {16, "bfloat16", "bf16"}, {17, "float8e4m3fn", ""},   {18, "float8e4m3fnuz", ""},
    {19, "float8e5m2", ""},   {20, "float8e5m2fnuz", ""}, {21, "uint4", ""},
    {22, "int4", ""},         {23, "float4e2m1", ""},
};

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

} // namespace tfc::onnx
