// Builds the entry that initializes variables, and creates queues and datasets. Initial values may
// declare further variables, so it continues until none is left.
#include "frontend/text/elaborate/InitializerElaborator.h"

#include "frontend/text/elaborate/DatasetEmitter.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/NameResolver.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/QueueEmitter.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;

namespace tfc::text {

void InitializerElaborator::initialize(const Initializer &initializer) {
  Variable &variable = *initializer.variable;
  SaveAndRestore<Activation *> inner(context.activation, initializer.activation.get());
  SaveAndRestore<std::string> outer(context.bindingName, variable.path);
  SaveAndRestore<Variable *> current(context.entry.initializing, &variable);
  if (!initializer.init) {
    context.builder.getResources().assign(
        variable.path,
        context.builder.scalar(int64_t(0), variable.type.getElementType(), variable.location),
        variable.location);
    return;
  }
  context.expected = TensorType{variable.type.getElementType(), dfg::shapeOf(variable.type)};
  Entity value = evaluator.eval(initializer.init);
  context.expected.reset();
  mlir::Value tensor =
      tensorEmitter.toTensor(value, variable.type.getElementType(), initializer.init->range);
  if (tensor)
    tensorEmitter.assignVariable(variable, tensor, initializer.init->range);
}

void InitializerElaborator::elaborateInitializers() {
  EntryHeader header = EntryHeader::initializer();
  SaveAndRestore<EntryHeader *> current(context.entry.header, &header);
  context.entry.number = ++context.entriesSoFar;
  context.entry.name = "init";
  context.entry.reads.clear();
  context.entry.draws.clear();
  context.entry.callNumber = nullptr;
  context.entry.lowerBounds.clear();
  context.entry.runTimeSizes.clear();
  context.entry.newSizes = 0;
  context.builder.beginEntry(header, mlir::UnknownLoc::get(context.mlir));
  nameResolver.forceAll(*context.program.mainModule);
  // Values of variables read here are stale, because the variables were not initialised yet.
  context.entry.number = ++context.entriesSoFar;
  context.entry.reads.clear();
  // Initial values may declare further variables.
  size_t done = 0;
  while (done < context.program.initializers.size()) {
    std::sort(context.program.initializers.begin() + done, context.program.initializers.end(),
              [](const Initializer &a, const Initializer &b) {
                return a.variable->order < b.variable->order;
              });
    size_t end = context.program.initializers.size();
    for (; done < end; ++done)
      initialize(Initializer(context.program.initializers[done]));
  }
  context.builder.finishEntry({}, {}, mlir::UnknownLoc::get(context.mlir));
  context.entry.number = 0;
  if (context.budget.isStopped())
    return;
  for (Variable *variable : inOrder(context.program.variables))
    placer.in(variable->placement, [&] {
      context.builder.getResources().createVariable(variable->path, variable->type,
                                                    variable->isFrozen, variable->formerly,
                                                    variable->location, variable->slice);
    });
  queueEmitter.createQueues();
  datasetEmitter.createDatasets();
}

} // namespace tfc::text
