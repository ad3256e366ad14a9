#include "compiler/emission/Dtypes.h"

using namespace mlir;
using namespace tfc::emission;

Dtype tfc::emission::dtypeOf(Type elementType) {
  if (elementType.isF32())
    return {TFC_F32, "float", "TFC_F32", 4};
  if (elementType.isF64())
    return {TFC_F64, "double", "TFC_F64", 8};
  if (elementType.isF16())
    return {TFC_F16, "uint16_t", "TFC_F16", 2};
  if (elementType.isBF16())
    return {TFC_BF16, "uint16_t", "TFC_BF16", 2};
  if (elementType.isUnsignedInteger(8))
    return {TFC_U8, "uint8_t", "TFC_U8", 1};
  if (elementType.isInteger(1))
    return {TFC_BOOL, "bool", "TFC_BOOL", 1};
  if (elementType.isInteger(8))
    return {TFC_I8, "int8_t", "TFC_I8", 1};
  if (elementType.isInteger(16))
    return {TFC_I16, "int16_t", "TFC_I16", 2};
  if (elementType.isInteger(32))
    return {TFC_I32, "int32_t", "TFC_I32", 4};
  return {TFC_I64, "int64_t", "TFC_I64", 8};
}
