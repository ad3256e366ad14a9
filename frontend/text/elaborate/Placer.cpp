// Evaluates the arguments of `@device` and `@colocate`. Their effect is a pair of attributes that
// the builder gives to each operation.
#include "frontend/text/elaborate/Placer.h"

#include "dialects/dfg/Devices.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"

using namespace llvm;

namespace tfc::text {

void Placer::readDevice(const ast::Annotation &annotation, Placement &placement) {
  bool isOne = annotation.args.size() == 1 && annotation.args.front().label.text.empty();
  Entity value = isOne ? evaluator.eval(annotation.args.front().value) : Nothing{};
  if (value.isPoison())
    return;
  const std::string *text = value.get<std::string>();
  if (!text) {
    reporter.error(annotation.range, "bad-annotation",
                   "'@device' takes the name of a device, as in @device(\"cpu:1\")");
    return;
  }
  std::string reason;
  const ast::Expr *written = annotation.args.front().value;
  std::optional<dfg::DeviceName> device = dfg::DeviceName::parse(*text, reason);
  if (device) {
    placement.device = device->within(placement.device);
    return;
  }
  const auto *literal = dyn_cast<ast::StringExpr>(written);
  reporter
      .error(written->range, "bad-device", "'{}' is not the name of a device: {}", *text, reason)
      .help("as in \"cpu:1\" or \"/job:worker/task:0/device:cpu:1\"")
      .forAllSizes(literal && literal->literal());
}

void Placer::readColocation(const ast::Annotation &annotation, Placement &placement) {
  if (annotation.args.empty())
    reporter.error(annotation.range, "bad-annotation",
                   "'@colocate' takes variables and queues, as in @colocate(w)");
  for (const ast::Arg &arg : annotation.args) {
    Entity value = evaluator.eval(arg.value);
    if (value.isPoison())
      continue;
    if (!arg.label.text.empty()) {
      reporter.error(arg.label.range, "bad-annotation",
                     "'@colocate' takes variables and queues without labels");
      continue;
    }
    if (Variable *const *variable = value.get<Variable *>())
      placement.with.push_back((*variable)->path);
    else if (Queue *const *queue = value.get<Queue *>())
      placement.with.push_back((*queue)->path);
    else
      reporter.error(arg.value->range, "bad-annotation",
                     "'@colocate' takes variables and queues, but got {}", value.describe());
  }
}

Placement Placer::read(ArrayRef<ast::Annotation> annotations, const Placement &outer) {
  Placement placement;
  const ast::Annotation *device = nullptr;
  for (const ast::Annotation &annotation : annotations) {
    if (annotation.name.text == "colocate")
      readColocation(annotation, placement);
    if (annotation.name.text != "device")
      continue;
    if (device)
      reporter.error(annotation.range, "bad-annotation", "'@device' is there twice")
          .note(device->range, "this is the other one");
    else
      readDevice(annotation, placement);
    device = &annotation;
  }
  return within(placement, outer);
}

Placement Placer::within(const Placement &inner, const Placement &outer) {
  if (!inner.with.empty())
    return inner;
  if (inner.device.isOpen())
    return outer;
  // A job or task alone does not say where in it: what is colocated remains so.
  bool isElsewhere = !inner.device.kind.empty() || inner.device.index;
  return {inner.device.within(outer.device), isElsewhere ? decltype(outer.with)() : outer.with};
}

void Placer::in(const Placement &placement, function_ref<void()> run) {
  SaveAndRestore<Placement> outer(context.placement, placement);
  SmallVector<mlir::NamedAttribute> attributes(context.builder.getPlacement());
  // Without an annotation, that of the reader which calls a function stays.
  if (!placement.device.isOpen() || !placement.with.empty())
    context.builder.setPlacement(
        dfg::placementAttrs(context.mlir, placement.device, placement.with));
  run();
  context.builder.setPlacement(attributes);
}

} // namespace tfc::text
