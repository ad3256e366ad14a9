// Names that C and C++ programs cannot use: keywords, and what the headers of the C library define.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tfc::emission {

/// Returns true if a parameter of this name breaks a declaration in C or C++, after any headers of
/// the C library: a keyword, a macro, or a name that looks like one.
bool isReservedParameter(llvm::StringRef name);

/// Returns true if a type or function of this name clashes with one of the language, the C library
/// or the runtime.
bool isReservedGlobal(llvm::StringRef name);

/// The text of reserved-names.txt: macros without parameters that do not look like macros, a blank
/// line, and all other names of the C library. Embedded in the compiler at build time.
extern const char kReservedNames[];

} // namespace tfc::emission
