// Arrays of numbers that a function computes.
#pragma once

#include "tools/tfc/Array.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tfc {

bool isFloating(tfc_dtype dtype);

/// Sets each element of an array of floats to the next number, rounded to its dtype.
void fillReals(Array &array, llvm::function_ref<double()> next);

/// Sets each element of an array of integers or bool to the next number, which its dtype can hold.
void fillIntegers(Array &array, llvm::function_ref<int64_t()> next);

} // namespace tfc
