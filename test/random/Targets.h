// The processors for which programs are compiled.
#pragma once

namespace tfc::random {

/// The text of test/targets.txt: LLVM's name of a processor on each line.
extern const char kTargets[];

} // namespace tfc::random
