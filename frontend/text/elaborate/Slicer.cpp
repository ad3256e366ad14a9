// Evaluates `@slice`. In IR a slice is an attribute of the variable, which checkpoints store.
#include "frontend/text/elaborate/Slicer.h"

#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"

using namespace llvm;

namespace tfc::text {

const ast::Annotation *findAnnotation(const ast::Stmt &stmt, StringRef name) {
  const auto *it = find_if(stmt.annotations, [&](const ast::Annotation &annotation) {
    return annotation.name.text == name;
  });
  return it == stmt.annotations.end() ? nullptr : it;
}

/// Those of `@slice("table", axis: 0, first: 1, step: 2, of: 11)`, all of which may be left out.
struct Slicer::Arguments {
  std::string whole;
  int64_t axis = 0, first = 0, step = 1;
  std::optional<int64_t> size;
};

bool Slicer::readArguments(const ast::Annotation &annotation, Arguments &arguments) {
  bool ok = true;
  for (const ast::Arg &arg : annotation.args) {
    StringRef label = arg.label.text;
    if (label.empty()) {
      std::optional<std::string> name = staticStage.evalStaticString(arg.value);
      ok &= name.has_value();
      arguments.whole = name.value_or("");
      continue;
    }
    bool isSize = label == "of";
    int64_t *target = label == "axis"    ? &arguments.axis
                      : label == "first" ? &arguments.first
                      : label == "step"  ? &arguments.step
                                         : nullptr;
    if (!target && !isSize) {
      Diagnostic &diagnostic =
          reporter.error(arg.label.range, "bad-annotation", "'@slice' has no argument '{}'", label);
      reporter.suggest(diagnostic, label, {"axis", "first", "step", "of"});
      ok = false;
      continue;
    }
    std::optional<int64_t> value = staticStage.evalStaticInt(arg.value);
    ok &= value.has_value();
    if (value && isSize)
      arguments.size = value;
    else if (value)
      *target = *value;
  }
  return ok;
}

static int64_t countAlong(mlir::RankedTensorType type, int64_t axis) {
  return type.getRank() == 0 ? 1 : type.getDimSize(axis);
}

dfg::SliceAttr Slicer::copyOf(StringRef whole, mlir::RankedTensorType type) {
  return dfg::SliceAttr::get(context.mlir, mlir::StringAttr::get(context.mlir, whole), 0, 0, 1,
                             countAlong(type, 0));
}

dfg::SliceAttr Slicer::read(const ast::VarDecl &decl, mlir::RankedTensorType type,
                            StringRef whole) {
  const ast::Annotation *annotation = findAnnotation(decl, "slice");
  if (!annotation)
    return whole.empty() ? dfg::SliceAttr() : copyOf(whole, type);
  Arguments arguments;
  arguments.whole = whole;
  if (!readArguments(*annotation, arguments))
    return {};
  auto fail = [&](const std::string &message) {
    reporter.error(annotation->range, "bad-annotation", "{}", message);
    return dfg::SliceAttr();
  };
  if (arguments.whole.empty()) {
    reporter.error(annotation->range, "bad-annotation", "this slice belongs to nothing")
        .help(
            "'@shards' before the 'let' of a group makes its variables slices of the same tensor, "
            "and so does a name, as in @slice(\"table\", first: 0, of: 9)");
    return {};
  }
  if (arguments.axis < 0 || arguments.axis >= std::max<int64_t>(type.getRank(), 1))
    return fail(fmt::format("'{}' is {} and has no axis {}", decl.name.text.str(),
                            dfg::toText(type), arguments.axis));
  if (arguments.first < 0 || arguments.step < 1)
    return fail("a slice begins at 0 or later, and its step is at least 1");
  int64_t count = countAlong(type, arguments.axis);
  auto wide = static_cast<__int128>(arguments.step) * (count - 1) + arguments.first + 1;
  if (wide > std::numeric_limits<int64_t>::max())
    return fail("the numbers of this slice are too large");
  int64_t end = count == 0 ? arguments.first : static_cast<int64_t>(wide);
  int64_t size = arguments.size.value_or(end);
  if (size < end)
    return fail(fmt::format("element {} of '{}' along axis {} is number {} of a tensor of {}",
                            count - 1, decl.name.text.str(), arguments.axis, end - 1, size));
  return dfg::SliceAttr::get(context.mlir, mlir::StringAttr::get(context.mlir, arguments.whole),
                             arguments.axis, arguments.first, arguments.step, size);
}

dfg::SliceAttr Slicer::ofSlot(mlir::RankedTensorType type, StringRef whole,
                              const Variable &variable) {
  if (dfg::SliceAttr slice = variable.slice; slice && type.getShape() == variable.type.getShape())
    return dfg::SliceAttr::get(context.mlir, mlir::StringAttr::get(context.mlir, whole),
                               slice.getAxis(), slice.getFirst(), slice.getStep(), slice.getSize());
  return copyOf(whole, type);
}

} // namespace tfc::text
