// NumPy's .npz files: zip archives of .npy files, here the arrays of a recorded case.
#pragma once

#include "tools/tfc/Array.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace tfc {

/// An archive as `numpy.savez` and `numpy.savez_compressed` write it: members are stored or
/// deflated, and none of them has 4 GiB.
class NpzFile {
public:
  static llvm::Expected<NpzFile> open(llvm::StringRef path);

  /// Reads the array `key`, from the member `key.npy`; `expected` is as for `parseNpy`.
  llvm::Expected<Array> read(llvm::StringRef key, std::optional<tfc_dtype> expected = {}) const;

  /// The names of all members, sorted and without ".npy".
  std::vector<std::string> getKeys() const;

private:
  /// An entry of the archive's directory.
  struct Member {
    uint16_t flags, method;
    uint32_t crc, packedBytes, bytes, offset;
  };

  explicit NpzFile(std::unique_ptr<llvm::MemoryBuffer> buffer) : buffer(std::move(buffer)) {}
  llvm::Error readDirectory();
  llvm::Expected<llvm::StringRef> findPacked(const Member &member) const;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> unpack(const Member &member) const;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringMap<Member> members;
};

} // namespace tfc
