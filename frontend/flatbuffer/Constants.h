// The elements of constants: in the FlatBuffer, in the section after it, or in other files.
#pragma once

#include "frontend/TensorFile.h"
#include "frontend/flatbuffer/Tables.h"

namespace tfc::flatbuffer {

/// Reads constants. Those that are not in the FlatBuffer stay mapped.
class Constants {
public:
  Constants(FileContext &file, Tables &tables);

  /// Finds the section; fails, after an error, if it is not in the file.
  llvm::LogicalResult findSection(uint64_t bytes);
  /// A constant; null after an error at `location`.
  mlir::ElementsAttr read(const tfg::Constant &constant, mlir::Location location);

private:
  mlir::ElementsAttr readInline(const tfg::Constant &constant, mlir::RankedTensorType type,
                                mlir::Location location);
  mlir::ElementsAttr readSection(const tfg::Constant &constant, mlir::RankedTensorType type,
                                 mlir::Location location);
  mlir::ElementsAttr readFile(const tfg::Constant &constant, mlir::RankedTensorType type,
                              mlir::Location location);

  FileContext &file;
  Tables &tables;
  llvm::StringRef section;
  std::vector<std::string> folders;
  TensorFiles files;
};

} // namespace tfc::flatbuffer
