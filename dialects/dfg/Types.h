//===- Types.h - Shapes and element types of tensors ----------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeRange.h"
#include <optional>

namespace tfc::dfg {

class DimsAttr;

using Shape = llvm::SmallVector<DimExpr>;

/// Sizes of all axes of a ranked tensor type; every dynamic one has a name.
Shape shapeOf(mlir::Type type);

/// The names of sizes that the shapes of feeds of these types determine: those that are the only
/// one in a size, as in `2 * n + 1`.
llvm::StringSet<> determinedNames(mlir::TypeRange feeds);

mlir::Type elementTypeOf(mlir::Type type);

/// The tensor type with these sizes, with an encoding only if a size is dynamic.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<DimExpr> shape, mlir::Type elementType);

/// Number of elements.
DimExpr elementCount(llvm::ArrayRef<DimExpr> shape);

/// Returns true if `type` is an element type of the language.
bool isDtype(mlir::Type type);

/// Returns true for the types of a graph's values: tensors, lists and tokens.
bool isValueType(mlir::Type type);

/// Returns true unless the elements are in a resource that is missing or has another size.
bool hasData(mlir::ElementsAttr elements);

/// Returns true if every dynamic size of a ranked tensor type has a name.
bool hasNamedSizes(mlir::Type type);

/// A type as the language writes it: `f32[n, 64]`, `i64`.
std::string toText(mlir::Type type);

/// Element types that an operation accepts.
enum class Dtypes { Any, Bool, Float, Integer, Numeric };
bool isIn(mlir::Type elementType, Dtypes dtypes);

/// `axis` as a nonnegative number; std::nullopt if there is no such axis.
std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);

/// The axes that a reduction over `axis` (null: all) removes, ascending; they must be valid.
llvm::SmallVector<int64_t> reducedAxes(mlir::DenseI64ArrayAttr axis, int64_t rank);

/// The broadcast shape of two shapes; std::nullopt if a pair of sizes is not provably compatible.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<DimExpr> lhs, llvm::ArrayRef<DimExpr> rhs);

// Inference shared by the operations of a family. `op` is the operation's name in the language;
// errors are reported at `location`, if given, in the form of the language's diagnostics.

llvm::LogicalResult inferElementwise(std::optional<mlir::Location> location, llvm::StringRef op,
                                     Dtypes dtypes, mlir::ValueRange operands,
                                     llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferComparison(std::optional<mlir::Location> location, llvm::StringRef op,
                                    Dtypes dtypes, mlir::ValueRange operands,
                                    llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferReduction(std::optional<mlir::Location> location, llvm::StringRef op,
                                   Dtypes dtypes, mlir::Type operand, mlir::DenseI64ArrayAttr axis,
                                   bool keepDims, llvm::SmallVectorImpl<mlir::Type> &results);

llvm::LogicalResult inferArgReduction(std::optional<mlir::Location> location, llvm::StringRef op,
                                      mlir::Type operand, int64_t axis,
                                      std::optional<mlir::Type> dtype, bool keepDims,
                                      llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferRandom(std::optional<mlir::Location> location, llvm::StringRef op,
                                Dtypes dtypes, mlir::Type counter, DimsAttr shape,
                                std::optional<mlir::Type> dtype,
                                llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferScan(std::optional<mlir::Location> location, llvm::StringRef op,
                              Dtypes dtypes, mlir::Type operand, int64_t axis,
                              llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferSoftmax(std::optional<mlir::Location> location, llvm::StringRef op,
                                 mlir::Type operand, int64_t axis,
                                 llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferScatter(std::optional<mlir::Location> location, llvm::StringRef op,
                                 Dtypes dtypes, mlir::Type operand, mlir::Type indices,
                                 mlir::Type updates, llvm::SmallVectorImpl<mlir::Type> &results);
llvm::LogicalResult inferTriangle(std::optional<mlir::Location> location, llvm::StringRef op,
                                  Dtypes dtypes, mlir::Type operand,
                                  llvm::SmallVectorImpl<mlir::Type> &results);

/// The broadcast shape of `types`, or an error at `location` that names the sizes.
llvm::FailureOr<Shape> inferBroadcast(std::optional<mlir::Location> location, llvm::StringRef op,
                                      mlir::TypeRange types);

/// Fails with an error unless `type` has one of the element types.
llvm::LogicalResult checkDtypes(std::optional<mlir::Location> location, llvm::StringRef op,
                                Dtypes dtypes, mlir::Type type);

/// Emits an error and fails unless the operands of the operation `name` are tensors, lists and
/// tokens as its definition requires; inference relies on this.
llvm::LogicalResult verifyOperandKinds(mlir::Location location, llvm::StringRef name,
                                       mlir::ValueRange operands);

/// Fails with an error unless the elements of `type` are i32 or i64.
llvm::LogicalResult checkIndices(std::optional<mlir::Location> location, llvm::StringRef op,
                                 mlir::Type type);

/// `axis` as a nonnegative number, or an error if a tensor of rank `rank` does not have it; the
/// error shows `type`.
llvm::FailureOr<int64_t> checkAxis(std::optional<mlir::Location> location, llvm::StringRef op,
                                   int64_t axis, int64_t rank, mlir::Type type);

/// Numbers computed from sizes, each with the integer type that holds it.
using Numbers = llvm::SmallVector<std::pair<DimExpr, mlir::Type>, 1>;

/// The size of an axis of `type`; negative axes count from the end.
DimExpr sizeOfAxis(mlir::Type type, int64_t axis);

/// True or false if a size expression is at least 0, or negative, for all nonnegative values of its
/// names; std::nullopt if it depends on them.
std::optional<bool> isNonNegative(const DimExpr &expr);

} // namespace tfc::dfg
