// The types and the places of a file, to which the rest of it refers by number.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "frontend/flatbuffer/FileContext.h"

namespace tfc::flatbuffer {

/// The types and places of a file. Errors in them are reported when the tables are read; a number
/// outside of a table is reported where it is used.
class Tables {
public:
  explicit Tables(FileContext &file) : file(file) {}

  /// Reads both tables; a type with an error is null.
  void read(const tfg::Graph &graph);

  /// A type; null, after an error at `location`, if there is none of this number.
  mlir::Type type(uint32_t number, mlir::Location location);
  /// The same for a tensor.
  mlir::RankedTensorType tensor(uint32_t number, mlir::Location location);
  /// A place; `location` without one, or, after an error, if there is none of this number.
  mlir::Location place(int32_t number, mlir::Location location);
  /// Sizes as an attribute; null after an error at `location`.
  dfg::DimsAttr sizes(const flatbuffers::Vector<flatbuffers::Offset<tfg::Size>> *sizes,
                      mlir::Location location);

private:
  mlir::Type readType(const tfg::Type &type, mlir::Location location);
  mlir::RankedTensorType readTensor(const tfg::Type &type, mlir::Type element,
                                    mlir::Location location);
  mlir::Location readPlace(const tfg::Place &place, mlir::Location location, unsigned &depth);
  mlir::Location earlier(int32_t number, mlir::Location location, unsigned &depth);

  FileContext &file;
  std::vector<mlir::Type> types;
  /// With the depth of each.
  std::vector<std::pair<mlir::Location, unsigned>> places;
};

} // namespace tfc::flatbuffer
