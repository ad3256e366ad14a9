// The text of docs/errors.md, embedded in the program at build time.
#pragma once

namespace tfc {

extern const char kErrorPage[];

} // namespace tfc
