// The values that nodes of a foreign graph exchange while their operations are built.
#pragma once

#include "dialects/dfg/SizeTensor.h"
#include "mlir/IR/Value.h"
#include <memory>
#include <optional>
#include <vector>

namespace tfc::importer {

/// A value, a tensor of sizes that needs no operation until its value is requested, a value whose
/// elements are also known, or a sequence of values whose length is known. Null after an error.
class NodeValue {
public:
  NodeValue() = default;
  NodeValue(mlir::Value value) : value(value) {}
  NodeValue(mlir::Value value, std::optional<dfg::SizeTensor> known) : value(value) {
    if (known)
      sizes = std::make_shared<const dfg::SizeTensor>(std::move(*known));
  }
  explicit NodeValue(dfg::SizeTensor sizes)
      : sizes(std::make_shared<const dfg::SizeTensor>(std::move(sizes))) {}
  /// The sizes of input `input` of the node that is being built.
  NodeValue(std::shared_ptr<const dfg::SizeTensor> sizes, unsigned input)
      : sizes(std::move(sizes)), input(input) {}

  static NodeValue sequence(std::vector<NodeValue> items) {
    NodeValue result;
    result.items = std::make_shared<const std::vector<NodeValue>>(std::move(items));
    return result;
  }

  explicit operator bool() const { return value || sizes || items; }
  /// Returns the values of a sequence, or null.
  const std::vector<NodeValue> *getItems() const { return items.get(); }
  /// The type of a value that is not a sequence.
  mlir::Type getType() const { return sizes ? sizes->getType() : value.getType(); }

  /// Returns the value, or null if none has been built yet.
  mlir::Value getValue() const { return value; }
  /// Returns the elements, or null if they are not known.
  const std::shared_ptr<const dfg::SizeTensor> &getSizes() const { return sizes; }
  /// Returns the number of the input that this value is, if it is an input known by its sizes.
  std::optional<unsigned> getInput() const { return input; }

  /// Returns the format's number of the type that the elements encode, or 0 if they are numbers.
  int64_t getCode() const { return code; }
  NodeValue withCode(int64_t dtype) const {
    NodeValue same = *this;
    same.code = dtype;
    return same;
  }

  /// Returns the same value as input `number` of a node, or of no node.
  NodeValue asInput(std::optional<unsigned> number) const {
    NodeValue same = *this;
    same.input = number;
    return same;
  }
  /// Returns the same sizes together with the value that has been built for them.
  NodeValue withValue(mlir::Value built) const {
    NodeValue same = *this;
    same.value = built;
    return same;
  }

private:
  mlir::Value value;
  std::shared_ptr<const dfg::SizeTensor> sizes;
  std::shared_ptr<const std::vector<NodeValue>> items;
  std::optional<unsigned> input;
  int64_t code = 0;
};

} // namespace tfc::importer
