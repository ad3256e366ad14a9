// The C header of a model.
#pragma once

#include "compiler/emission/Names.h"

namespace tfc::emission {

/// The header's text: all of runtime/tfc.h, then the model's functions with their shapes.
std::string makeHeader(const ModelInfo &model, const ModelNames &names);

} // namespace tfc::emission
