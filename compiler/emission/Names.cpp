#include "compiler/emission/Names.h"
#include "compiler/emission/Emission.h"
#include "llvm/ADT/StringSet.h"

using namespace tfc;
using namespace tfc::emission;
using llvm::StringRef;

// Keywords of C and C++, and macros of the headers that a generated header includes.
static constexpr StringRef kReserved[] = {"NULL",
                                          "alignas",
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
                                          "linux",
                                          "long",
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
                                          "unix",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};

std::string tfc::toIdentifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name.insert(0, "_");
  if (llvm::is_contained(kReserved, StringRef(name)))
    name += '_';
  return name;
}

/// `name`, with underscores until it is new in `used`.
static std::string makeUnique(std::string name, llvm::StringSet<> &used) {
  while (!used.insert(name).second)
    name += '_';
  return name;
}

static EntryNames chooseEntryNames(const EntryInfo &entry) {
  // Types of the header cannot be parameters of the functions that use them.
  llvm::StringSet<> used = {"tfc_status", "int8_t",  "int16_t", "int32_t",
                            "int64_t",    "uint8_t", "uint16_t"};
  EntryNames names;
  for (const SymbolInfo &symbol : entry.symbols)
    names.symbols.push_back(makeUnique(toIdentifier(symbol.name), used));
  for (const ValueInfo &feed : entry.feeds)
    names.feeds.push_back(makeUnique(toIdentifier(feed.name), used));
  for (const ValueInfo &fetch : entry.fetches)
    names.fetches.push_back(makeUnique(toIdentifier(fetch.name), used));
  for (const std::string &size : entry.found)
    names.found.push_back(makeUnique(toIdentifier(size), used));
  return names;
}

ModelNames tfc::emission::chooseNames(const ModelInfo &model, StringRef prefix) {
  ModelNames names;
  names.prefix = prefix.str();
  llvm::StringSet<> functions;
  for (StringRef purpose :
       {"create", "destroy", "fork", "message", "save", "load", "get", "set", "library"})
    functions.insert(names.of(purpose));
  if (!model.queues.empty())
    for (StringRef purpose : {"queue_size", "queue_close", "cancel"})
      functions.insert(names.of(purpose));
  for (const EntryInfo &entry : model.entries) {
    names.entries.push_back(chooseEntryNames(entry));
    std::string function = toIdentifier((prefix + "_" + entry.name).str());
    names.entries.back().function = makeUnique(std::move(function), functions);
  }
  return names;
}
