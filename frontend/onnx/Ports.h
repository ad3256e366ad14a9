// The inputs of a model as feeds of its entry.
#pragma once

#include "frontend/importer/Feeds.h"
#include "frontend/onnx/EntryContext.h"

namespace tfc::onnx {

/// Finds the feeds of a model, from what its file and the command line say.
class Ports {
public:
  explicit Ports(EntryContext &entry) : entry(entry) {}

  /// Sets `header` and `feeds`, or emits errors.
  void find();
  /// Adds the inputs that the command line fixes to `scope`, as constants.
  void addFixed(Scope &scope);

  EntryHeader header;
  std::vector<const Input *> feeds; // as in the header

private:
  void addFeed(const Input &input);
  void addBounds();
  void addSolved();
  bool isImplied(const dfg::Fact &fact) const;
  void addAssumed();
  /// Reports sizes that a call could not find, because they occur only in sums of several.
  void checkSizes();
  /// Reports options about inputs that the model does not have.
  void checkNames();
  bool isFixed(llvm::StringRef name) const;

  EntryContext &entry;
};

} // namespace tfc::onnx
