// The entries that a caller requests of a graph whose file declares none.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc::importer {

/// A tensor that the caller provides.
struct FeedSpec {
  std::string tensor; // by the format's name
  /// The element type by its name in the language, if the graph does not specify it.
  std::string element;
  /// The sizes, as text, if the graph does not specify them.
  std::optional<std::vector<std::string>> sizes;
  /// The elements of a feed that determines shapes, as integers in row-major order. They become
  /// part of the graph, and calls must pass the same ones.
  std::optional<std::vector<int64_t>> numbers;
};

/// One function to build from a graph.
struct EntrySpec {
  std::string name;
  std::vector<FeedSpec> feeds;
  std::vector<std::string> fetches; // tensors
  std::vector<std::string> targets; // nodes to run for their effects
};

/// Parses "name: feeds -> fetches ; targets". If it is malformed, returns std::nullopt and sets
/// `error`.
std::optional<EntrySpec> parseEntrySpec(llvm::StringRef text, std::string &error);

} // namespace tfc::importer
