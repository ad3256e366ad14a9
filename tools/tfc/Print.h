// Arrays as text.
#pragma once

#include "tools/tfc/Array.h"

namespace tfc {

/// Element `index` as a double; exact except for large i64.
double toDouble(const Array &array, int64_t index);
/// Element `index` of an array of integers or bool.
int64_t toInteger(const Array &array, int64_t index);

/// The shortest text that reads back as the element.
std::string elementText(const Array &array, int64_t index);

/// Prints like NumPy, in brackets; long axes are shortened in arrays of over 1000 elements.
void printArray(llvm::raw_ostream &os, const Array &array);

} // namespace tfc
