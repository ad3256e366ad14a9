// Arrays of numbers that a function computes: random feeds of `tfc bench` and `tfc run`.
#include "tools/tfc/Fill.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>

using namespace llvm;
using namespace tfc;

template <typename T, typename Next> static void fill(Array &array, Next next) {
  T *data = reinterpret_cast<T *>(array.data.data());
  std::generate_n(data, array.elementCount(), next);
}

template <const fltSemantics &(*Semantics)()> static uint16_t toHalf(double value) {
  APFloat result(value);
  bool inexact;
  result.convert(Semantics(), APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(result.bitcastToAPInt().getZExtValue());
}

bool tfc::isFloating(tfc_dtype dtype) {
  return dtype == TFC_F32 || dtype == TFC_F64 || dtype == TFC_F16 || dtype == TFC_BF16;
}

void tfc::fillReals(Array &array, function_ref<double()> next) {
  if (array.dtype == TFC_F32)
    fill<float>(array, next);
  else if (array.dtype == TFC_F64)
    fill<double>(array, next);
  else if (array.dtype == TFC_F16)
    fill<uint16_t>(array, [&] { return toHalf<APFloat::IEEEhalf>(next()); });
  else
    fill<uint16_t>(array, [&] { return toHalf<APFloat::BFloat>(next()); });
}

void tfc::fillIntegers(Array &array, function_ref<int64_t()> next) {
  if (array.elementBytes() == 1)
    fill<int8_t>(array, next);
  else if (array.elementBytes() == 2)
    fill<int16_t>(array, next);
  else if (array.elementBytes() == 4)
    fill<int32_t>(array, next);
  else
    fill<int64_t>(array, next);
}
