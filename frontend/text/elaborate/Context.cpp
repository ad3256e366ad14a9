// The few functions of the elaborator's shared state.
#include "frontend/text/elaborate/Context.h"

using namespace llvm;

namespace tfc::text {

std::shared_ptr<Activation> Context::newActivation(Module *module, Instance *self) {
  auto result = std::make_shared<Activation>();
  result->module = module;
  result->self = self;
  program.keptActivations.push_back(result);
  return result;
}

} // namespace tfc::text
