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
  std::string element = "";
  /// The sizes, as text, if the graph does not specify them.
  std::optional<std::vector<std::string>> sizes = std::nullopt;
  /// The elements of a feed that determines shapes, as integers in row-major order. They become
  /// part of the graph, and calls must pass the same ones.
  std::optional<std::vector<int64_t>> numbers = std::nullopt;
  /// The same of a feed of floats, which matter only where shapes are computed from them.
  std::optional<std::vector<double>> reals = std::nullopt;
  std::string name = ""; // that callers see; that of the tensor if empty
};

/// A tensor that the caller gets.
struct FetchSpec {
  std::string tensor;
  std::string name = "";
};

/// One function to build from a graph.
struct EntrySpec {
  std::string name;
  std::vector<FeedSpec> feeds;
  std::vector<FetchSpec> fetches;
  std::vector<std::string> targets; // nodes to run for their effects
};

/// Parses "name: feeds -> fetches ; targets". If it is malformed, returns std::nullopt and sets
/// `error`.
std::optional<EntrySpec> parseEntrySpec(llvm::StringRef text, std::string &error);

} // namespace tfc::importer
