// Finds the operations that bind sizes.

#include "frontend/tensorflow/EntryContext.h"

#include "dialects/dfg/SizeOps.h"

namespace tfc::tensorflow {

/// Looks at each operation once.
const EntryContext::Binder *EntryContext::binderOf(llvm::StringRef name) {
  for (; scanned < created.size(); ++scanned) {
    auto [node, op] = created[scanned];
    op->walk([&, node = node, op = op](dfg::BindSizeOp binder) {
      binders.try_emplace(binder.getName(), Binder{node, op});
    });
  }
  auto found = binders.find(name);
  return found == binders.end() ? nullptr : &found->second;
}

} // namespace tfc::tensorflow
