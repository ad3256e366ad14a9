//===- Numbers.h - Compile-time numbers as elements -----------------------===//
//
// A literal has no element type until it is combined with a tensor. All such conversions are in
// this file.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Types.h"
#include <variant>

namespace tfc::dfg {

/// A number known at compile time.
using Number = std::variant<bool, int64_t, double>;

/// `Implicit` if a number is combined with a typed value, `Cast` if the author converts it, as in
/// `i32(2.7)`.
enum class Conversion { Implicit, Cast };

/// The reason why a number is not an element of a type.
struct NumberError {
  llvm::StringRef slug;
  std::string text;
  std::string help;
};

/// Returns `number` as an element of type `element`, or null and the reason in `error`. Floats are
/// rounded to the nearest value. A finite number never becomes infinite, and integer types accept
/// only integers in their range; a cast first drops the fraction, and also converts from and to
/// bool.
mlir::TypedAttr elementFrom(const Number &number, mlir::Type element, Conversion conversion,
                            NumberError &error);

/// Emits an error and fails unless `number`, the attribute `name` of the operation `op`, is exactly
/// representable in the integer type `element`, or does not overflow the float type `element`.
llvm::LogicalResult checkElement(std::optional<mlir::Location> location, llvm::StringRef op,
                                 llvm::StringRef name, const llvm::APFloat &number,
                                 mlir::Type element);

} // namespace tfc::dfg
