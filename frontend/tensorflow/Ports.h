// The tensors and nodes of a graph that an entry specification names.
#pragma once

#include "frontend/importer/Feeds.h"
#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// The feeds, fetches and targets of an entry.
class EntryPorts {
public:
  explicit EntryPorts(EntryContext &entry) : entry(entry) {}

  /// Finds all ports and the types of feeds, and reports missing ones. Registers feeds in the
  /// entry.
  void find();

  EntryHeader header;
  std::vector<Edge> feeds, fetches;
  std::vector<unsigned> targets;

private:
  std::optional<Edge> findTensor(llvm::StringRef name, llvm::StringRef role);
  /// Returns the element type of a feed, or null after an error.
  mlir::Type elementTypeAt(const FeedSpec &feed, Edge edge);
  void addFeed(const FeedSpec &feed, Edge edge);
  void addFetch(Edge edge);

  EntryContext &entry;
};

} // namespace tfc::tensorflow
