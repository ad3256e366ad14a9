// Resolves the numbers by which nodes refer to values. A value that is used before its definition
// is a placeholder until then.
#include "frontend/flatbuffer/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

Values::~Values() {
  // After errors, operations that will be erased still use some.
  for (Operation &op : placeholders)
    op.dropAllUses();
}

bool Values::read(ArrayRef<uint32_t> types, Location location) {
  for (uint32_t number : types) {
    Type type = tables.type(number, location);
    if (type && !dfg::isValueType(type)) {
      emitError(location) << "value " << entries.size()
                          << " has the type of elements, not of tensors [graph-file]";
      type = nullptr;
    }
    entries.push_back({type, {}, {}, {}});
  }
  return all_of(entries, [](const Entry &entry) { return bool(entry.type); });
}

bool Values::isNumber(uint32_t number, Location location) {
  if (number < entries.size())
    return true;
  emitError(location) << "there is no value " << number << " among the " << entries.size()
                      << " of the entry [graph-edge]";
  return false;
}

Type Values::type(uint32_t number, Location location) {
  return isNumber(number, location) ? entries[number].type : Type();
}

Value Values::placeholderFor(Entry &entry) {
  if (!entry.placeholder && entry.type) {
    OpBuilder builder(file.getContext());
    builder.setInsertionPointToEnd(&placeholders);
    entry.placeholder =
        UnrealizedConversionCastOp::create(builder, file.locate(), entry.type, ValueRange())
            .getResult(0);
  }
  return entry.placeholder;
}

void Values::define(uint32_t number, Value value, Location location) {
  Entry &entry = entries[number];
  if (entry.definition) {
    InFlightDiagnostic error = emitError(location);
    error << "value " << number << " is defined twice [graph-edge]";
    error.attachNote(*entry.definition) << "this is the first definition";
    return;
  }
  entry.value = value;
  entry.definition = location;
  entry.isVisible = true;
  scopes.back().defined.push_back(number);
  if (entry.placeholder && entry.placeholder != value)
    entry.placeholder.replaceAllUsesWith(value);
}

void Values::forget(uint32_t number, Location location) {
  if (number < entries.size() && !entries[number].definition)
    define(number, placeholderFor(entries[number]), location);
}

Value Values::use(uint32_t number, Location location) {
  if (!isNumber(number, location))
    return {};
  Entry &entry = entries[number];
  if (entry.isVisible)
    return entry.value;
  auto graph = find_if(reverse(scopes), [](const Scope &scope) { return scope.isGraph; });
  if (entry.definition)
    emitError(location) << "value " << number
                        << " is used outside of the region that defines it [graph-edge]";
  else if (graph != scopes.rend())
    graph->pending.emplace_back(number, location);
  else
    emitError(location) << "value " << number << " is used before it is defined [graph-edge]";
  return placeholderFor(entry);
}

void Values::beginRegion(bool isGraph) { scopes.push_back({isGraph, {}, {}}); }

void Values::endRegion() {
  for (auto [number, location] : scopes.back().pending)
    if (!entries[number].isVisible)
      emitError(location) << "value " << number << " is not defined where it is used [graph-edge]";
  for (uint32_t number : scopes.back().defined)
    entries[number].isVisible = false;
  scopes.pop_back();
}

} // namespace tfc::flatbuffer
