#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

/// The name of the variable that counts the calls of entries that draw.
static constexpr StringLiteral kCallCounter = "random.calls";

bool isDraw(const dfg::OpSignature &op) {
  bool hasCounter = any_of(op.operands, [](const auto &operand) { return operand.name == "counter"; });
  return hasCounter && any_of(op.attributes, [](const auto &attr) { return attr.name == "seed"; });
}

/// FNV-1a with 64 bits.
static int64_t hashOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

/// The seed of a draw without one: of an initial value the variable's name, else the node's name,
/// with a number where an entry has several of one name.
int64_t Elaborator::seedFromPath() {
  std::string path;
  if (initializing) {
    path = initializing->path;
  } else {
    path = entryName;
    if (frame->self)
      path += "/" + frame->self->path;
    path += "/" + bindingName;
  }
  unsigned count = draws[path]++;
  return hashOf(count ? path + "#" + std::to_string(count) : path);
}

/// The counter of draws: 0 for initial values, else the number of this call.
mlir::Value Elaborator::drawCounter(SourceRange at) {
  mlir::Type i64 = mlir::IntegerType::get(context, 64);
  if (initializing)
    return builder.scalar(int64_t(0), i64, locate(at));
  if (callNumber)
    return callNumber;
  Variable *&counter = variablesByPath[kCallCounter];
  if (!counter) {
    variables.push_back(Variable{kCallCounter.str(), mlir::RankedTensorType::get({}, i64),
                                 /*isFrozen=*/true, "", {~0u}, nullptr, locate(at)});
    counter = &variables.back();
    initializers.push_back({counter, nullptr, newFrame(mainModule, nullptr)});
  }
  callNumber = readVariable(*counter, at);
  mlir::Value one = builder.scalar(int64_t(1), i64, locate(at));
  mlir::Value next = emit("add", {}, {callNumber, one}, {}, at);
  builder.assign(counter->path, next, locate(at));
  reads.erase(counter);
  return callNumber;
}

} // namespace tfc::text
