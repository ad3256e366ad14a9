//===- DataChecks.h - Conditions on data, and what messages say -----------===//
//
// A call that fails because of its data says which operation failed, its
// location, which value was wrong and what was expected. The numbers in a message
// are known only at run time: a message is a format with `%lld` for each of a
// few values, and `%%` for a percent sign. The runtime and the oracle fill it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tfc::dfg {

class CheckedOpInterface;

/// The most values that a message shows.
inline constexpr size_t kMaxMessageValues = 4;

/// The beginning of the names of files that ship with tfc, in locations.
inline constexpr llvm::StringLiteral kLibraryFolder = "tfc/";

/// The text as a part of a format. A zero, which would end it, is shown as `?`.
std::string escapeFormat(llvm::StringRef text);

/// The number of values that a format shows; nothing if it is no format.
std::optional<size_t> countFormatValues(llvm::StringRef format);

/// The text of a valid format with as many values as it shows.
std::string fillFormat(llvm::StringRef format, llvm::ArrayRef<int64_t> values);

/// "model.graph:12", for the author's line to which a location leads, or "node x"; empty if it has
/// neither.
std::string siteOf(mlir::Location location);

/// Returns " at model.graph:12", to be appended to a name in a message; empty without a site.
std::string sitePhrase(mlir::Location location);

/// `location`, where the author calls something as `name`: `x[i]`, a function that ships with tfc.
mlir::Location nameSite(mlir::Location location, llvm::StringRef name);

/// The function that the author called, and where, for messages: "'gather' at model.graph:12".
std::string subjectOf(mlir::Operation *op);

/// Builds a message, and the operations that compute the values in it.
class Message {
public:
  Message(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Message &text(const llvm::Twine &text);
  /// Shows a scalar of type i32 or i64.
  Message &number(mlir::Value scalar);
  /// Shows the value of a size.
  Message &valueOf(const DimExpr &size);
  /// Begins the message with a subject.
  Message &about(const llvm::Twine &subject);
  /// Shows the names in sizes with their values, as in ": n is 3, m is 5", as far as there is room.
  Message &namesIn(llvm::ArrayRef<DimExpr> sizes);

  llvm::StringRef getFormat() const { return format; }
  mlir::ValueRange getValues() const { return values; }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  std::string format;
  llvm::SmallVector<mlir::Value, kMaxMessageValues> values;
};

/// A condition on the data of an operation, and the message of a call that violates it.
struct DataCheck {
  /// A scalar of type bool.
  mlir::Value holds;
  /// The text after `subject` if the condition does not hold, as in "got index 7".
  Message message;
  /// The subject of the message; empty for the operation itself.
  std::string subject = {};
};

/// Indices along an axis, and the size that they must be below.
struct IndexRange {
  mlir::Value indices;
  int64_t axis;
  DimExpr size;
};

/// The condition that all indices are in their ranges. The message names the one that is largest
/// as an unsigned number, in the first range with a wrong one: "got index 7 of axis 0 of `table`",
/// or "got index 7, but expects 0 to 4" if there is no table.
DataCheck buildIndexCheck(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<IndexRange> ranges,
                          llvm::StringRef what, mlir::Type table);

/// The condition that the sizes are at least 0, unless that is known at `op`; the message is for
/// the caller to write.
mlir::Value buildNonNegative(mlir::OpBuilder &b, mlir::Operation *op,
                             llvm::ArrayRef<DimExpr> sizes);

/// The check of an operation with the whole message; nothing if its data are known to be valid.
std::optional<DataCheck> buildDataCheck(mlir::OpBuilder &b, CheckedOpInterface op);

/// `buildNonNegative` with a message that shows the names in `sizes`; nothing if the condition is
/// known to hold.
std::optional<DataCheck> buildSizeCheck(mlir::OpBuilder &b, mlir::Operation *op,
                                        llvm::ArrayRef<DimExpr> sizes, const llvm::Twine &text);

} // namespace tfc::dfg
