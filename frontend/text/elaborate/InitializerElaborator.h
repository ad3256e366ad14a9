/// Builds the entry that initializes variables and creates queues and datasets.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class NameResolver;
class Placer;
class DatasetEmitter;
class QueueEmitter;
class TensorEmitter;

/// Builds the entry that initializes variables and creates queues and datasets.
class InitializerElaborator {
public:
  InitializerElaborator(Context &context, Evaluator &evaluator, TensorEmitter &tensorEmitter,
                        Placer &placer, QueueEmitter &queueEmitter, DatasetEmitter &datasetEmitter,
                        NameResolver &nameResolver)
      : context(context), evaluator(evaluator), tensorEmitter(tensorEmitter), placer(placer),
        queueEmitter(queueEmitter), datasetEmitter(datasetEmitter), nameResolver(nameResolver) {}

  void elaborateInitializers();

private:
  void initialize(const Initializer &initializer);

  Context &context;
  Evaluator &evaluator;
  TensorEmitter &tensorEmitter;
  Placer &placer;
  QueueEmitter &queueEmitter;
  DatasetEmitter &datasetEmitter;
  NameResolver &nameResolver;
};

} // namespace tfc::text
