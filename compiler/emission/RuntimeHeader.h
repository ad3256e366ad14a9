// The text of runtime/tfc.h, which each model's header repeats; embedded in the compiler at build
// time.
#pragma once

namespace tfc::emission {

extern const char kRuntimeHeader[];

} // namespace tfc::emission
