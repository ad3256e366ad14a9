//===- SizeLimits.h - Sizes that exceed any memory ------------------------===//
//
// Sizes, offsets and byte counts are computed in 64 bits. The maximum number of bytes of a tensor
// is so small that none of these can overflow. Larger tensors are rejected, by the compiler if it
// knows the sizes and otherwise by each call.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Enums.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/Types.h"

namespace tfc::dfg {

/// The largest number of bytes of a tensor: no processor addresses more.
inline constexpr int64_t kMaxTensorBytes = int64_t(1) << 56;

/// The largest number of chunks, memory that grows during calls, of an instance.
inline constexpr int64_t kMaxChunks = int64_t(1) << 20;

/// The largest magnitude of sizes with a certain use. An entry lists in `limits` those that the
/// bounds of its names do not limit.
struct SizeLimit {
  SizeUse use;
  int64_t most;
};
/// Sizes and byte counts of tensors.
inline constexpr SizeLimit kMemoryLimit = {SizeUse::Memory, kMaxTensorBytes};
/// Sizes that become numbers of a type, the widest last.
inline constexpr SizeLimit kNumberLimits[] = {{SizeUse::I8, INT8_MAX},   {SizeUse::U8, UINT8_MAX},
                                              {SizeUse::I16, INT16_MAX}, {SizeUse::U16, UINT16_MAX},
                                              {SizeUse::I32, INT32_MAX}, {SizeUse::U32, UINT32_MAX},
                                              {SizeUse::U64, INT64_MAX}, {SizeUse::I64, INT64_MAX}};

/// The limit for numbers of an integer type.
const SizeLimit &numberLimitOf(mlir::Type type);

/// Returns the message of a call in which a number exceeds one of `kNumberLimits`.
std::string misfitText(const SizeLimit &limit);

/// Returns true if the type can represent the number; std::nullopt represents a number that exceeds
/// 64 bits.
bool holdsNumber(mlir::Type type, std::optional<int64_t> number);

/// The text of a size that was computed from a number exceeding 64 bits.
inline constexpr llvm::StringLiteral kOverflow = "<overflow>";

/// The name of such a size. Names in graphs have no backquotes.
inline constexpr llvm::StringLiteral kOverflowName = "`<overflow>`";

/// The same for a product of sizes that has too many terms to be computed.
inline constexpr llvm::StringLiteral kTooComplex = "<too complex>";
inline constexpr llvm::StringLiteral kTooComplexName = "`<too complex>`";

/// Returns true if a size is one of these two, so that nothing is known about it.
bool isOverflow(const DimExpr &size);

/// Returns true if a size is unknown because its formula has too many terms.
bool isUncomputed(const DimExpr &size);

/// Fails with an error if a size, stride or similar attribute of `op` exceeds the largest number of
/// bytes of a tensor: positions computed from it might overflow.
llvm::LogicalResult checkSizes(mlir::Location location, llvm::StringRef op,
                               llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// The limit of the numbers in the attribute `attribute` of `op`.
AttrLimit limitOf(llvm::StringRef op, llvm::StringRef attribute);

/// Fails with an error if a number that `op` computes from sizes never fits its type.
llvm::LogicalResult checkNumbers(mlir::Operation *op);

/// Bytes of a tensor.
DimExpr byteCount(mlir::RankedTensorType type);

/// Returns true if a tensor of the type, or an element of a list, exceeds any memory for all values
/// of its named sizes. An axis without elements counts as one element: strides are products of the
/// other sizes.
bool isTooLarge(mlir::Type type);

/// Returns true if the size of an axis, or the number of elements, has too many terms to be
/// computed; such a type counts as too large.
bool isTooComplex(mlir::Type type);

/// Fails with an error if one of the result types of `op` is too large.
llvm::LogicalResult checkSizes(mlir::Location location, llvm::StringRef op, mlir::TypeRange types);

/// The largest magnitude of any intermediate number in the computation of `size`, if `largest`
/// bounds the value of each name; at most UINT64_MAX.
uint64_t largestMagnitude(const DimExpr &size,
                          llvm::function_ref<uint64_t(llvm::StringRef)> largest);

} // namespace tfc::dfg
