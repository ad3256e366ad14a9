// Checks that generated code only needs symbols that every program that links it provides.
#include "compiler/emission/Symbols.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;
using namespace tfc::emission;

/// Functions of libm for f64; those for f32 have the suffix `f`.
static constexpr StringLiteral kMath[] = {
    "acos",      "acosh", "asin",      "asinh",    "atan",  "atan2",     "atanh",  "cbrt",
    "ceil",      "cos",   "cosh",      "copysign", "erf",   "erfc",      "exp",    "exp10",
    "exp2",      "expm1", "fabs",      "fdim",     "floor", "fma",       "fmax",   "fmaximum",
    "fmin",      "fmod",  "fminimum",  "frexp",    "hypot", "ldexp",     "lgamma", "llrint",
    "llround",   "log",   "log10",     "log1p",    "log2",  "lrint",     "lround", "modf",
    "nearbyint", "pow",   "remainder", "rint",     "round", "roundeven", "scalbn", "sin",
    "sincos",    "sinh",  "sqrt",      "tan",      "tanh",  "tgamma",    "trunc"};

/// Functions of libc, and symbols defined by linkers.
static constexpr StringLiteral kSystem[] = {"bcmp",    "memcmp", "memcpy",
                                            "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"};

/// The prefixes of the runtime's functions.
static constexpr StringLiteral kRuntime[] = {"tfc_instance_", "tfc_rt_", "tfc_runtime_"};

bool tfc::emission::isProvided(StringRef symbol) {
  StringRef wide = symbol.ends_with("f") ? symbol.drop_back() : symbol;
  return is_contained(kSystem, symbol) || is_contained(kMath, symbol) ||
         is_contained(kMath, wide) ||
         any_of(kRuntime, [&](StringRef start) { return symbol.starts_with(start); });
}

using Binary = object::OwningBinary<object::ObjectFile>;

/// Calls `visit` for the named symbols that an object defines, or for those that it needs.
static Error visitSymbols(const object::ObjectFile &object, bool defined,
                          function_ref<Error(const object::SymbolRef &, StringRef)> visit) {
  for (const object::SymbolRef &symbol : object.symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    bool isDefined = !(*flags & object::SymbolRef::SF_Undefined);
    if (isDefined == defined && !name->empty())
      if (Error error = visit(symbol, *name))
        return error;
  }
  return Error::success();
}

/// The function in a section: each has one of its own.
static std::string functionIn(const object::ObjectFile &object, object::section_iterator section) {
  for (const object::SymbolRef &symbol : object.symbols()) {
    Expected<object::SymbolRef::Type> type = symbol.getType();
    Expected<object::section_iterator> place = symbol.getSection();
    Expected<StringRef> name = symbol.getName();
    bool isIt =
        type && place && name && *type == object::SymbolRef::ST_Function && *place == section;
    std::string text = isIt ? name->str() : "";
    consumeError(type.takeError());
    consumeError(place.takeError());
    consumeError(name.takeError());
    if (isIt)
      return text;
  }
  return "";
}

/// The function that refers to a symbol.
static std::string findUser(const object::ObjectFile &object, const object::SymbolRef &symbol) {
  for (const object::SectionRef &section : object.sections()) {
    Expected<object::section_iterator> relocated = section.getRelocatedSection();
    if (!relocated) {
      consumeError(relocated.takeError());
      continue;
    }
    for (const object::RelocationRef &relocation : section.relocations())
      if (object::symbol_iterator used = relocation.getSymbol();
          used != object.symbol_end() && *used == symbol)
        if (std::string name = functionIn(object, *relocated); !name.empty())
          return name;
  }
  return "";
}

static Error refuse(const object::ObjectFile &object, const object::SymbolRef &symbol,
                    StringRef name, StringRef prefix) {
  std::string user = findUser(object, symbol);
  StringRef kernel = user;
  if (kernel.consume_front(prefix))
    kernel.consume_front(".");
  return createStringError("internal compiler error: the code of '" +
                           (kernel.empty() ? "the model" : kernel) + "' needs '" + name +
                           "', which neither the C library nor the runtime has");
}

Error tfc::emission::checkSymbols(ArrayRef<std::string> objects, StringRef prefix) {
  std::vector<Binary> binaries;
  StringSet<> own;
  for (const std::string &path : objects) {
    Expected<Binary> binary = object::ObjectFile::createObjectFile(path);
    if (!binary)
      return binary.takeError();
    binaries.push_back(std::move(*binary));
    if (Error error = visitSymbols(*binaries.back().getBinary(), /*defined=*/true,
                                   [&](const object::SymbolRef &, StringRef name) {
                                     own.insert(name);
                                     return Error::success();
                                   }))
      return error;
  }
  for (const Binary &binary : binaries) {
    const object::ObjectFile &object = *binary.getBinary();
    auto check = [&](const object::SymbolRef &symbol, StringRef name) -> Error {
      if (own.contains(name) || isProvided(name))
        return Error::success();
      return refuse(object, symbol, name, prefix);
    };
    if (Error error = visitSymbols(object, /*defined=*/false, check))
      return error;
  }
  return Error::success();
}
