// The entries that a caller wants of a graph whose file declares none.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc::importer {

/// A tensor that the caller gives.
struct FeedSpec {
  std::string tensor; // "x:0"
  /// The sizes, as text, where the graph does not say them.
  std::optional<std::vector<std::string>> sizes;
  /// The elements, integers in row-major order, of one that decides shapes: they are part of the
  /// graph then, and calls give the same.
  std::optional<std::vector<int64_t>> numbers;
};

/// One function to make of a graph.
struct EntrySpec {
  std::string name;
  std::vector<FeedSpec> feeds;
  std::vector<std::string> fetches; // tensors
  std::vector<std::string> targets; // nodes to run for their effects
};

/// Reads "name: feeds -> fetches ; targets"; nothing, and `error` set, if it is malformed.
std::optional<EntrySpec> parseEntrySpec(llvm::StringRef text, std::string &error);

/// The name of a feed or fetch for the callers: of the first output just the node's.
std::string portName(llvm::StringRef tensor);

} // namespace tfc::importer
