// Creates activations, and keeps them alive as long as the state that the collaborators share.
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
