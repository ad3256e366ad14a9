// The file that is being read: locations for errors, and a budget for the bytes that are read.
#pragma once

#include "frontend/ForeignFile.h"
#include "frontend/flatbuffer/Wire.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace tfc::flatbuffer {

/// The file that is being read. Strings and vectors of numbers are read through it, because tables
/// may share them: the work would otherwise grow with the square of the file's size.
class FileContext {
public:
  FileContext(mlir::MLIRContext *context, const ForeignFile &file)
      : context(context), file(file),
        budget(kMinBudget + kReadsPerByte * file.buffer->getBufferSize()) {}

  mlir::MLIRContext *getContext() const { return context; }
  const ForeignFile &getFile() const { return file; }

  /// The location of the file, and of a node in it that has no place.
  mlir::Location locate() const;
  mlir::Location locate(const llvm::Twine &node) const;

  /// The text of a string, which may be missing; empty, after an error, if it is not UTF-8.
  llvm::StringRef text(const flatbuffers::String *string);
  /// The name of something; an error at `location` if it has none.
  llvm::StringRef name(const flatbuffers::String *string, mlir::Location location);
  /// The attributes that say where an operation or a declaration shall be. Names of devices that
  /// are invalid are reported at `location`, and left out.
  llvm::SmallVector<mlir::NamedAttribute>
  placement(const flatbuffers::String *device,
            const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *colocate,
            mlir::Location location);
  /// The numbers of a vector, which may be missing.
  template <typename T> llvm::ArrayRef<T> numbers(const flatbuffers::Vector<T> *vector) {
    return vector && spend(vector->size() * sizeof(T))
               ? llvm::ArrayRef<T>(vector->data(), vector->size())
               : llvm::ArrayRef<T>();
  }

private:
  static constexpr uint64_t kMinBudget = 1 << 20, kReadsPerByte = 64;

  /// Takes bytes from the budget; returns false, after an error, once it is exceeded.
  bool spend(uint64_t bytes);

  mlir::MLIRContext *context;
  const ForeignFile &file;
  uint64_t budget;
  bool isExhausted = false;
};

} // namespace tfc::flatbuffer
