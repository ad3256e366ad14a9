// Recognises names that generated C code cannot use. reserved-names.txt has the names of the C
// library.
#include "compiler/emission/ReservedNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tfc::emission;
using llvm::StringRef;

/// Keywords of C, C++ and their GNU dialects, up to C23 and C++26, and `main`.
static constexpr StringRef kKeywords[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "contract_assert",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "main",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "restrict",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "typeof_unqual",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};

namespace {
/// The names of the C library, in the groups of reserved-names.txt.
struct LibraryNames {
  LibraryNames() {
    auto [first, second] = StringRef(kReservedNames).split("\n\n");
    insert(first, objectMacros);
    insert(second, others);
  }

  static void insert(StringRef text, llvm::StringSet<> &names) {
    while (!(text = text.ltrim()).empty()) {
      StringRef name = text.take_until([](char c) { return llvm::isSpace(c); });
      names.insert(name);
      text = text.drop_front(name.size());
    }
  }

  llvm::StringSet<> objectMacros, others;
};
} // namespace

static const LibraryNames &libraryNames() {
  static const LibraryNames names;
  return names;
}

static bool isKeyword(StringRef name) { return llvm::is_contained(kKeywords, name); }

/// Returns true for names that the languages reserve for compilers and libraries.
static bool hasReservedForm(StringRef name) {
  return name.starts_with("__") || (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1]));
}

/// Returns true for names of tfc.h and of the functions that implement it.
static bool isOfRuntime(StringRef name) {
  return name == "tfc" || name.starts_with("tfc_") || name.starts_with("TFC_");
}

/// Macros are in capitals, also in other libraries: `N_BLOCKS`, `M_PIf`, `B0`.
static bool looksLikeMacro(StringRef name) {
  return name.size() > 1 && llvm::isUpper(name[0]) &&
         (llvm::isUpper(name[1]) || llvm::isDigit(name[1]) || name[1] == '_');
}

bool tfc::emission::isReservedParameter(StringRef name) {
  // A trailing underscore makes these forms unreserved.
  bool hasForm = hasReservedForm(name) || isOfRuntime(name) || looksLikeMacro(name);
  return isKeyword(name) || (hasForm && !name.ends_with("_")) ||
         libraryNames().objectMacros.contains(name);
}

bool tfc::emission::isReservedGlobal(StringRef name) {
  return isKeyword(name) || hasReservedForm(name) || isOfRuntime(name) ||
         libraryNames().objectMacros.contains(name) || libraryNames().others.contains(name);
}
