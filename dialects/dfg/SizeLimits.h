//===- SizeLimits.h - Sizes that no memory holds --------------------------===//
//
// Sizes, offsets and byte counts are computed in 64 bits. A tensor may have so
// many bytes that all of these stay far from an overflow; larger ones are
// refused, by the compiler where it knows the sizes and else by each call.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Types.h"

namespace tfc::dfg {

/// The most bytes that a tensor may have: no processor addresses more.
inline constexpr int64_t kMaxTensorBytes = int64_t(1) << 56;

/// Attributes of an entry: expressions over its named sizes which a call must find to be at most
/// `most` in magnitude, because no bounds of the names limit them.
struct SizeLimit {
  llvm::StringLiteral attribute;
  int64_t most;
};
/// Sizes and byte counts of tensors.
inline constexpr SizeLimit kMemoryLimit = {"tfc.limits", kMaxTensorBytes};
/// Sizes that become numbers of the type in the attribute's name, the widest last.
inline constexpr SizeLimit kNumberLimits[] = {{"tfc.limits.i8", INT8_MAX},
                                              {"tfc.limits.u8", UINT8_MAX},
                                              {"tfc.limits.i16", INT16_MAX},
                                              {"tfc.limits.i32", INT32_MAX},
                                              {"tfc.limits.i64", INT64_MAX}};

/// The limit for numbers of an integer type.
const SizeLimit &numberLimitOf(mlir::Type type);

/// What a call says that exceeds one of `kNumberLimits`.
std::string misfitMessage(const SizeLimit &limit);

/// The same for a number that is known only after the call began.
std::string misfitMessage(const SizeLimit &limit, const DimExpr &number);

/// Whether a type holds a number; nothing stands for one that 64 bits do not hold.
bool holdsNumber(mlir::Type type, std::optional<int64_t> number);

/// How a size prints that was computed from a number which 64 bits do not hold.
inline constexpr llvm::StringLiteral kOverflow = "<overflow>";

/// The name of such a size. Names of authors have no backquotes.
inline constexpr llvm::StringLiteral kOverflowName = "`<overflow>`";

/// The same for a product of sizes that has too many terms to be computed.
inline constexpr llvm::StringLiteral kTooComplex = "<too complex>";
inline constexpr llvm::StringLiteral kTooComplexName = "`<too complex>`";

/// Whether a size is one of these two: nothing is known of it.
bool isOverflow(const DimExpr &size);

/// Whether a size is unknown because its formula has too many terms.
bool isUncomputed(const DimExpr &size);

/// Fails with an error if an attribute of `op` holds a size, stride or the like beyond the bytes
/// that a tensor may have: positions computed from it might overflow.
llvm::LogicalResult checkSizes(mlir::Location location, llvm::StringRef op,
                               llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// Whether an attribute holds a number that is computed with, and not a size of a tensor.
bool holdsNumber(llvm::StringRef op, llvm::StringRef attribute);

/// Fails with an error if a number that `op` makes of sizes never fits its type.
llvm::LogicalResult checkNumbers(mlir::Operation *op);

/// Bytes of a tensor.
DimExpr byteCount(mlir::RankedTensorType type);

/// Whether no memory holds a tensor of the type, or an element of a list, whatever its named sizes
/// are. An axis without elements counts as one element: strides are products of the other sizes.
bool isTooLarge(mlir::Type type);

/// Whether the size of an axis, or the number of elements, has too many terms to be computed; such
/// a type counts as too large.
bool isTooComplex(mlir::Type type);

/// Fails with an error if one of the result types of `op` is too large.
llvm::LogicalResult checkSizes(mlir::Location location, llvm::StringRef op, mlir::TypeRange types);

/// The largest magnitude of any number that is met while `size` is computed, if no name stands for
/// more than `largest` returns; at most UINT64_MAX.
uint64_t largestMagnitude(const DimExpr &size,
                          llvm::function_ref<uint64_t(llvm::StringRef)> largest);

} // namespace tfc::dfg
