// The checkpoint of a SavedModel: tensors by key, in files that an index describes.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace tfc::tensorflow {

namespace wire {
class BundleEntry;
} // namespace wire

class Bundle {
public:
  /// `prefix` is the path of the files without their suffixes, and `addInput` records a file that
  /// is read.
  Bundle(std::string prefix, llvm::function_ref<void(llvm::StringRef path)> addInput)
      : prefix(std::move(prefix)), addInput(addInput) {}

  /// Reads the index. Returns false and sets `error` if it is missing or damaged.
  bool open(std::string &error);
  std::string indexPath() const { return prefix + ".index"; }

  /// Reads a tensor, or the part of it that `slice` describes as RestoreV2 does: "6 4 0,3:-" is
  /// the first three of six rows. Large ones stay mapped and are called `name`. Returns null and
  /// sets `error` if there is no such tensor or it is damaged.
  mlir::ElementsAttr read(mlir::MLIRContext *context, llvm::StringRef key, llvm::StringRef slice,
                          llvm::StringRef name, std::string &error);
  /// Reads a tensor that is one text. Returns std::nullopt and sets `error` like `read`.
  std::optional<std::string> readText(llvm::StringRef key, std::string &error);

private:
  using FileBuffer = std::shared_ptr<llvm::MemoryBuffer>;
  /// The elements of a tensor, or of a part of one that is stored in parts.
  struct Stored;
  struct Part;

  bool findEntry(llvm::StringRef key, wire::BundleEntry &entry, std::string &error) const;
  FileBuffer openShard(int64_t number, std::string &error);
  /// Returns the bytes of an entry in its file, which `file` keeps. Returns std::nullopt and sets
  /// `error` if the file cannot be read or is too short.
  std::optional<llvm::StringRef> findBytes(const wire::BundleEntry &entry, FileBuffer &file,
                                           std::string &error);
  bool readStored(mlir::MLIRContext *context, const wire::BundleEntry &entry, Stored &stored,
                  std::string &error);
  bool readParts(mlir::MLIRContext *context, llvm::StringRef key, Stored &whole,
                 std::vector<Part> &parts, std::string &error);

  std::string prefix;
  llvm::function_ref<void(llvm::StringRef path)> addInput;
  FileBuffer index;
  llvm::StringMap<llvm::StringRef> entries; // in the index
  int64_t shardCount = 0;
  bool isBigEndian = false;
  std::map<int64_t, FileBuffer> shards;
};

} // namespace tfc::tensorflow
