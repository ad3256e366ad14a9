// Attributes in the definitions of operations, for reading and writing.
#pragma once

#include "dialects/dfg/OpTable.h"
#include "llvm/ADT/STLExtras.h"

namespace tfc::flatbuffer {

/// The definition of an attribute; null if the operation has none of this name.
inline const dfg::AttrSignature *findAttribute(const dfg::OpSignature &op, llvm::StringRef name) {
  auto found = llvm::find_if(
      op.attributes, [&](const dfg::AttrSignature &attribute) { return attribute.name == name; });
  return found == op.attributes.end() ? nullptr : &*found;
}

} // namespace tfc::flatbuffer
