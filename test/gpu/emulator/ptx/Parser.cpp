//===- Parser.cpp - Reads PTX ---------------------------------------------===//
//
// A recursive-descent parser of modules: their header, variables and initialisers. The bodies of
// functions are in FunctionParser.cpp.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Parser.h"
#include <cstring>

namespace tfc::gpu::ptx {

std::string Error::str() const { return "line " + std::to_string(place.line) + ": " + message; }

std::string Instruction::str() const {
  std::string text = name;
  for (const std::string &modifier : modifiers)
    text += "." + modifier;
  return text;
}

std::optional<Type> typeNamed(std::string_view name) {
  if (name == "pred")
    return Type{Type::Kind::Predicate, 1};
  static const std::map<char, Type::Kind> kinds = {{'b', Type::Kind::Bits},
                                                   {'u', Type::Kind::Unsigned},
                                                   {'s', Type::Kind::Signed},
                                                   {'f', Type::Kind::Float}};
  auto kind = name.empty() ? kinds.end() : kinds.find(name[0]);
  if (kind == kinds.end())
    return std::nullopt;
  for (int bits : {8, 16, 32, 64, 128})
    if (name.substr(1) == std::to_string(bits) && !(kind->second == Type::Kind::Float && bits < 16))
      return Type{kind->second, bits};
  return std::nullopt;
}

std::optional<Space> spaceNamed(std::string_view name) {
  static const std::map<std::string_view, Space> spaces = {{"const", Space::Constant},
                                                           {"global", Space::Global},
                                                           {"local", Space::Local},
                                                           {"param", Space::Parameter},
                                                           {"shared", Space::Shared}};
  auto found = spaces.find(name);
  return found == spaces.end() ? std::nullopt : std::optional(found->second);
}

bool Parser::requireWord(std::string &word) {
  if (token.kind != Token::Kind::Word)
    return expected("a name");
  word = take().text;
  return true;
}

bool Parser::requireInteger(int64_t &value) {
  bool isNegative = takeIf('-');
  if (token.kind != Token::Kind::Integer)
    return expected("an integer");
  value = take().value;
  if (isNegative)
    value = static_cast<int64_t>(-static_cast<uint64_t>(value)); // modulo 2^64
  return true;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Version numbers look like floats, which PTX writes otherwise.
bool Parser::parseHeader(Module &module) {
  if (!takeIf("version"))
    return expected("'.version'");
  Token major = take();
  bool isVersion = major.kind == Token::Kind::Unknown && token.kind == Token::Kind::Directive;
  int64_t minor = isVersion ? token.text[0] - '0' : 0;
  if (!isVersion || token.text.size() != 1 || minor < 0 || minor > 9)
    return expected("a version, as in 8.0");
  take();
  module.version = static_cast<int>(10 * major.value + minor);
  if (!takeIf("target"))
    return expected("'.target'");
  if (!requireWord(module.target))
    return false;
  std::string ignored; // such as debug
  while (takeIf(','))
    if (!requireWord(ignored))
      return false;
  if (!takeIf("address_size"))
    return expected("'.address_size'");
  int64_t size = 0;
  if (!requireInteger(size))
    return false;
  return size == 64 || fail("expected addresses of 64 bits, but got " + std::to_string(size));
}

bool Parser::parseModule(Module &module) {
  if (!parseHeader(module))
    return false;
  while (token.kind != Token::Kind::End)
    if (!parseTop(module))
      return false;
  return true;
}

bool Parser::parseTop(Module &module) {
  if (takeIf("file")) { // its number and name
    int64_t ignored;
    return requireInteger(ignored) && (take().kind == Token::Kind::Text || expected("a text"));
  }
  bool isVisible = false, isExternal = false;
  for (;;) {
    if (takeIf("visible") || takeIf("weak") || takeIf("common"))
      isVisible = true;
    else if (takeIf("extern"))
      isExternal = true;
    else
      break;
  }
  if (token.isDirective("entry") || token.isDirective("func")) {
    Function function;
    function.isKernel = token.isDirective("entry");
    function.isVisible = isVisible;
    function.isExternal = isExternal;
    take();
    if (!parseFunction(function))
      return false;
    module.functions.push_back(std::move(function));
    return true;
  }
  std::optional<Space> space =
      token.kind == Token::Kind::Directive ? spaceNamed(token.text) : std::nullopt;
  if (!space || space == Space::Parameter || space == Space::Local)
    return expected("a variable or function");
  take();
  Variable variable;
  variable.isVisible = isVisible;
  variable.isExternal = isExternal;
  if (!parseVariable(variable, *space) || !parseInitialiser(variable) || !require(';'))
    return false;
  globals.insert(variable.name);
  module.variables.push_back(std::move(variable));
  return true;
}

/// Parses what follows the state space of a variable, up to its size.
bool Parser::parseVariable(Variable &variable, Space space) {
  variable.space = space;
  if (!parseAttributes(variable))
    return false;
  variable.place = token.place;
  return requireWord(variable.name) && parseSize(variable);
}

bool Parser::parseAttributes(Variable &variable) {
  bool hasType = false;
  while (token.kind == Token::Kind::Directive) {
    if (takeIf("align")) {
      if (!requireInteger(variable.align))
        return false;
      if (variable.align <= 0 || (variable.align & (variable.align - 1)))
        return fail("expected an alignment that is a power of two");
      continue;
    }
    if (takeIf("ptr")) { // of a parameter: what it points to
      while (token.kind == Token::Kind::Directive) {
        int64_t ignored;
        bool isAlign = take().text == "align";
        if (isAlign && !requireInteger(ignored))
          return false;
      }
      break;
    }
    std::optional<Type> type = typeNamed(token.text);
    if (!type || hasType || type->kind == Type::Kind::Predicate)
      return expected("the type of a variable");
    variable.type = *type;
    hasType = true;
    take();
  }
  if (!hasType)
    return expected("the type of a variable");
  variable.align = std::max<int64_t>(variable.align, variable.type.bytes());
  return true;
}

bool Parser::parseSize(Variable &variable) {
  variable.elements = 1;
  while (takeIf('[')) {
    variable.isArray = true;
    if (takeIf(']')) {
      variable.elements = std::nullopt;
      return true;
    }
    int64_t size = 0;
    if (!requireInteger(size) || !require(']'))
      return false;
    bool overflows =
        size < 0 || __builtin_mul_overflow(*variable.elements, size, &*variable.elements);
    if (overflows || variable.size() > (int64_t(1) << 40))
      return fail("expected a size of at most 2^40 bytes");
  }
  return true;
}

bool Parser::parseInitialiser(Variable &variable) {
  if (!takeIf('='))
    return true;
  int64_t offset = 0, step = variable.type.bytes();
  if (!takeIf('{'))
    return parseElement(variable, 0);
  if (takeIf('}'))
    return true;
  do {
    if (!parseElement(variable, offset))
      return false;
    offset += step;
  } while (takeIf(','));
  if (!require('}'))
    return false;
  if (!variable.elements)
    variable.elements = offset / step;
  return offset <= variable.size() ||
         fail("expected at most " + std::to_string(*variable.elements) + " elements for '" +
              variable.name + "'");
}

/// An element is a number, or the address of a symbol, perhaps with an offset.
bool Parser::parseElement(Variable &variable, int64_t offset) {
  variable.bytes.resize(offset + variable.type.bytes());
  bool isGeneric = token.kind == Token::Kind::Word && token.text == "generic";
  if (token.kind == Token::Kind::Word) {
    Variable::Reference reference{offset, "", 0, isGeneric};
    if (isGeneric)
      take();
    if ((isGeneric && !require('(')) || !requireWord(reference.symbol) ||
        (isGeneric && !require(')')))
      return false;
    if (takeIf('+') && !requireInteger(reference.addend))
      return false;
    variable.references.push_back(reference);
    return true;
  }
  Operand number;
  if (!parseNumber(number))
    return false;
  memcpy(&variable.bytes[offset], &number.value, std::min<size_t>(variable.type.bytes(), 8));
  return true;
}

std::optional<Module> parse(const std::string &text, Error &error) {
  Module module;
  if (!Parser(text, error).parseModule(module))
    return std::nullopt;
  return module;
}

} // namespace tfc::gpu::ptx
