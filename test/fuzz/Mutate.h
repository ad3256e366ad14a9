//===- Mutate.h - Inputs that are nearly right ----------------------------===//
//
// Mutations are drawn from a seed, so that a number always stands for the same input.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tfc::fuzz {

/// SplitMix64: the same numbers everywhere.
class Draw {
public:
  explicit Draw(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From 0 to `count` - 1; 0 if `count` is 0.
  size_t below(size_t count) { return count ? next() % count : 0; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename Range> auto &of(Range &&range) { return range[below(std::size(range))]; }

private:
  uint64_t state;
};

using Corpus = llvm::ArrayRef<std::string>;

/// Bits, bytes, ranges, numbers, parts of others.
std::string mutateBytes(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Words, numbers, lines and brackets of text: of graphs, MLIR, JSON.
std::string mutateTokens(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Nodes, names, inputs, attributes and numbers of GraphDefs.
std::string mutateGraphDef(llvm::StringRef input, Corpus corpus, Draw &draw);
/// The same of SavedModels, their signatures, and what restores them.
std::string mutateSavedModel(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Numbers, keys and checksums of the index of a checkpoint.
std::string mutateTable(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Nodes, values, attributes, tensors, types and functions of ONNX models.
std::string mutateOnnx(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Nodes, edges, attributes, types and sizes of binary graphs.
std::string mutateFlatBuffer(llvm::StringRef input, Corpus corpus, Draw &draw);
/// Damages the text between a length of `lengthBytes` at `lengthAt` and the data; the length is
/// mostly adjusted.
std::string mutateHeader(llvm::StringRef input, Corpus corpus, size_t lengthAt, size_t lengthBytes,
                         Draw &draw);

} // namespace tfc::fuzz
