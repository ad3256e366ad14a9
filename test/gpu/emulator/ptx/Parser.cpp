//===- Parser.cpp - Reads PTX ---------------------------------------------===//
//
// A recursive-descent parser of modules. Registers and the variables of functions have the scope of
// the block in braces in which they are declared (4.4), labels that of the function, and may be
// used before they are set.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Lexer.h"
#include <cstring>
#include <map>
#include <set>

namespace tfc::gpu::ptx {

std::string Error::str() const { return "line " + std::to_string(place.line) + ": " + message; }

std::string Instruction::str() const {
  std::string text = name;
  for (const std::string &modifier : modifiers)
    text += "." + modifier;
  return text;
}

static std::optional<Type> typeNamed(std::string_view name) {
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

static std::optional<Space> spaceNamed(std::string_view name) {
  static const std::map<std::string_view, Space> spaces = {{"const", Space::Constant},
                                                           {"global", Space::Global},
                                                           {"local", Space::Local},
                                                           {"param", Space::Parameter},
                                                           {"shared", Space::Shared}};
  auto found = spaces.find(name);
  return found == spaces.end() ? std::nullopt : std::optional(found->second);
}

namespace {
/// Functions return false after an error, of which the first is kept.
class Parser {
public:
  Parser(const std::string &text, Error &error) : lexer(text), error(error) { take(); }

  bool parseModule(Module &module);

private:
  bool failAt(Place place, const std::string &message) {
    error = {place, message};
    return false;
  }
  bool fail(const std::string &message) { return failAt(token.place, message); }
  bool expected(const std::string &what) {
    std::string got =
        token.kind == Token::Kind::End ? "the end" : "'" + std::string(token.text) + "'";
    return fail("expected " + what + ", but got " + got);
  }
  Token take() {
    Token taken = token;
    token = lexer.next();
    return taken;
  }
  bool takeIf(char sign) {
    bool isThere = token.is(sign);
    if (isThere)
      take();
    return isThere;
  }
  bool takeIf(std::string_view directive) {
    bool isThere = token.isDirective(directive);
    if (isThere)
      take();
    return isThere;
  }
  bool require(char sign) { return takeIf(sign) || expected(std::string("'") + sign + "'"); }
  bool requireWord(std::string &word);
  bool requireInteger(int64_t &value);

  // Modules.
  bool parseHeader(Module &module);
  bool parseTop(Module &module);
  bool parseVariable(Variable &variable, Space space);
  bool parseAttributes(Variable &variable);
  bool parseSize(Variable &variable);
  bool parseInitialiser(Variable &variable);
  bool parseElement(Variable &variable, int64_t offset);

  // Functions.
  bool parseFunction(Function &function);
  bool parseParameters(std::vector<Variable> &parameters);
  bool parseLimits(Function &function);
  bool parseLimit(int64_t (&limit)[3]);
  bool parseBlock(Function &function);
  bool parseStatement(Function &function);
  bool parseDirective(Function &function);
  bool parseLine();
  bool parseRegisters(Function &function);
  bool parseLabelOrInstruction(Function &function, std::optional<Operand> guard);
  bool parseTargets(Function &function);
  bool resolveNames(Function &function);
  bool resolveName(Operand &operand, Place place);

  // Operands.
  bool parseGuard(Operand &guard);
  bool parseOperand(Operand &operand);
  bool parseOperands(char end, std::vector<Operand> &operands);
  bool parseSimple(Operand &operand);
  bool parseRegister(Operand &operand);
  bool findLocal(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parseNumber(Operand &operand);

  struct Names {
    std::map<std::string, unsigned, std::less<>> registers, variables;
  };

  Lexer lexer;
  Token token;
  Error &error;
  std::vector<Names> scopes; // from outside in
  std::map<std::string, unsigned, std::less<>> labels, targets;
  std::set<std::string> globals;
};
} // namespace

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

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Parser::parseFunction(Function &function) {
  scopes.assign(1, {});
  labels.clear();
  targets.clear();
  if (!function.isKernel && token.is('(') && !parseParameters(function.results))
    return false;
  function.place = token.place;
  if (!requireWord(function.name))
    return false;
  globals.insert(function.name);
  if (token.is('(') && !parseParameters(function.parameters))
    return false;
  if (!parseLimits(function))
    return false;
  if (takeIf(';')) // a declaration
    return true;
  for (const std::vector<Variable> *variables : {&function.results, &function.parameters})
    for (const Variable &variable : *variables) {
      scopes.front().variables[variable.name] = function.variables.size();
      function.variables.push_back(variable);
    }
  return parseBlock(function) && resolveNames(function);
}

bool Parser::parseParameters(std::vector<Variable> &parameters) {
  take();
  if (takeIf(')'))
    return true;
  do {
    Variable &parameter = parameters.emplace_back();
    if (!takeIf("param"))
      return expected("'.param'");
    if (!parseVariable(parameter, Space::Parameter))
      return false;
  } while (takeIf(','));
  return require(')');
}

bool Parser::parseLimits(Function &function) {
  while (token.kind == Token::Kind::Directive) {
    int64_t ignored;
    if (takeIf("maxntid")) {
      if (!parseLimit(function.maxThreads))
        return false;
    } else if (takeIf("reqntid")) {
      if (!parseLimit(function.requiredThreads))
        return false;
    } else if (takeIf("minnctapersm") || takeIf("maxnreg")) {
      if (!requireInteger(ignored))
        return false;
    } else if (!takeIf("noreturn")) {
      return expected("a directive of a function");
    }
  }
  return true;
}

/// Dimensions that are not listed are 1.
bool Parser::parseLimit(int64_t (&limit)[3]) {
  limit[0] = limit[1] = limit[2] = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (axis > 0 && !takeIf(','))
      return true;
    if (!requireInteger(limit[axis]))
      return false;
    if (limit[axis] < 1)
      return fail("expected at least one thread");
  }
  return true;
}

bool Parser::parseBlock(Function &function) {
  if (!require('{'))
    return false;
  scopes.emplace_back();
  while (!token.is('}'))
    if (!parseStatement(function))
      return false;
  take();
  scopes.pop_back();
  return true;
}

bool Parser::parseStatement(Function &function) {
  if (token.is('{'))
    return parseBlock(function);
  if (takeIf(';'))
    return true;
  if (token.kind == Token::Kind::Directive)
    return parseDirective(function);
  if (!token.is('@'))
    return parseLabelOrInstruction(function, std::nullopt);
  Operand guard;
  return parseGuard(guard) && parseLabelOrInstruction(function, guard);
}

bool Parser::parseDirective(Function &function) {
  if (takeIf("reg"))
    return parseRegisters(function);
  if (takeIf("pragma")) {
    if (token.kind != Token::Kind::Text)
      return expected("a text");
    take();
    return require(';');
  }
  if (takeIf("loc"))
    return parseLine();
  std::optional<Space> space = spaceNamed(token.text);
  if (!space || space == Space::Global || space == Space::Constant)
    return expected("a declaration or an instruction");
  take();
  Variable variable;
  if (!parseVariable(variable, *space) || !require(';'))
    return false;
  scopes.back().variables[variable.name] = function.variables.size();
  function.variables.push_back(std::move(variable));
  return true;
}

/// A file, a line and a column, and perhaps the function that was inlined there, and where.
bool Parser::parseLine() {
  int64_t ignored;
  for (int i = 0; i < 3; ++i)
    if (!requireInteger(ignored))
      return false;
  while (takeIf(',')) {
    std::string word;
    if (!requireWord(word))
      return false;
    for (int i = 0; i < (word == "inlined_at" ? 3 : 0); ++i)
      if (!requireInteger(ignored))
        return false;
    if (word == "function_name" && !requireWord(word))
      return false;
    if (takeIf('+') && !requireInteger(ignored))
      return false;
  }
  return true;
}

/// `%r<5>` declares %r0 to %r4.
bool Parser::parseRegisters(Function &function) {
  std::optional<Type> type =
      token.kind == Token::Kind::Directive ? typeNamed(token.text) : std::nullopt;
  if (!type)
    return expected("the type of a register");
  take();
  auto add = [&](const std::string &name) {
    scopes.back().registers[name] = function.registers.size();
    function.registers.push_back({name, *type});
  };
  do {
    if (token.kind != Token::Kind::Register && token.kind != Token::Kind::Word)
      return expected("a register");
    std::string name(take().text);
    if (!takeIf('<')) {
      add(name);
      continue;
    }
    int64_t count = 0;
    if (!requireInteger(count) || !require('>'))
      return false;
    if (count < 0 || count > 1'000'000)
      return fail("expected at most a million registers");
    for (int64_t i = 0; i < count; ++i)
      add(name + std::to_string(i));
  } while (takeIf(','));
  return require(';');
}

bool Parser::parseLabelOrInstruction(Function &function, std::optional<Operand> guard) {
  Instruction instruction;
  instruction.place = token.place;
  instruction.guard = std::move(guard);
  if (token.kind != Token::Kind::Word)
    return expected("an instruction");
  instruction.name = take().text;
  if (!instruction.guard && takeIf(':')) {
    bool isList = takeIf("branchtargets");
    unsigned number = isList ? function.targets.size() : function.instructions.size();
    bool isKnown = labels.count(instruction.name) || targets.count(instruction.name);
    (isList ? targets : labels)[instruction.name] = number;
    if (isKnown)
      return failAt(instruction.place, "label '" + instruction.name + "' is set twice");
    return !isList || parseTargets(function);
  }
  while (token.kind == Token::Kind::Directive)
    instruction.modifiers.emplace_back(take().text);
  if (!token.is(';') && !parseOperands(';', instruction.operands))
    return false;
  if (!require(';'))
    return false;
  function.instructions.push_back(std::move(instruction));
  return true;
}

/// Parses the labels of .branchtargets (11.2).
bool Parser::parseTargets(Function &function) {
  std::vector<Operand> &list = function.targets.emplace_back();
  do {
    Operand &label = list.emplace_back();
    label.kind = Operand::Kind::Symbol;
    if (!requireWord(label.name))
      return false;
  } while (takeIf(','));
  return require(';');
}

/// Names that are no variables of the function are its labels, or symbols of the module.
bool Parser::resolveNames(Function &function) {
  for (std::vector<Operand> &list : function.targets)
    for (Operand &label : list)
      if (!resolveName(label, function.place) || label.kind != Operand::Kind::Label)
        return failAt(function.place, "expected labels of the function as branch targets");
  for (Instruction &instruction : function.instructions) {
    for (Operand &operand : instruction.operands)
      if (!resolveName(operand, instruction.place))
        return false;
    bool isToLabel =
        instruction.operands.size() == 1 && instruction.operands[0].kind == Operand::Kind::Label;
    if (instruction.name == "bra" && !isToLabel)
      return failAt(instruction.place, "expected a label of the function");
  }
  return true;
}

bool Parser::resolveName(Operand &operand, Place place) {
  for (Operand &element : operand.elements)
    if (!resolveName(element, place))
      return false;
  if (operand.kind != Operand::Kind::Symbol)
    return true;
  if (auto list = targets.find(operand.name); list != targets.end()) {
    operand.kind = Operand::Kind::Targets;
    operand.number = list->second;
    return true;
  }
  auto label = labels.find(operand.name);
  if (label == labels.end())
    return globals.count(operand.name) || failAt(place, "'" + operand.name + "' is not declared");
  operand.kind = Operand::Kind::Label;
  operand.number = label->second;
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Parser::parseGuard(Operand &guard) {
  take();
  bool isNegated = takeIf('!');
  if (!parseRegister(guard))
    return false;
  guard.isNegated = isNegated;
  return guard.kind == Operand::Kind::Register || fail("expected a predicate that is declared");
}

bool Parser::parseOperands(char end, std::vector<Operand> &operands) {
  do {
    if (!parseOperand(operands.emplace_back()))
      return false;
  } while (takeIf(','));
  return token.is(end) || expected(std::string("',' or '") + end + "'");
}

/// An operand, or two destinations with a bar between them.
bool Parser::parseOperand(Operand &operand) {
  if (!parseSimple(operand))
    return false;
  if (!takeIf('|'))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  if (!parseSimple(pair.elements.emplace_back()))
    return false;
  operand = std::move(pair);
  return true;
}

bool Parser::parseSimple(Operand &operand) {
  if (token.kind == Token::Kind::Register)
    return parseRegister(operand);
  if (takeIf('!')) {
    operand.isNegated = true;
    return parseRegister(operand);
  }
  if (token.is('['))
    return parseAddress(operand);
  if (token.is('{') || token.is('(')) {
    bool isVector = take().is('{');
    operand.kind = isVector ? Operand::Kind::Vector : Operand::Kind::List;
    char end = isVector ? '}' : ')';
    return takeIf(end) || (parseOperands(end, operand.elements) && require(end));
  }
  if (token.kind != Token::Kind::Word)
    return parseNumber(operand);
  operand.name = token.text;
  operand.kind = operand.name == "_" ? Operand::Kind::Sink : Operand::Kind::Symbol;
  findLocal(operand);
  take();
  return true;
}

/// Looks for a register or variable of the function, from the innermost block out.
bool Parser::findLocal(Operand &operand) {
  auto find = [&](const auto &names, Operand::Kind kind) {
    auto found = names.find(token.text);
    if (found == names.end())
      return false;
    operand.kind = kind;
    operand.number = found->second;
    return true;
  };
  for (size_t i = scopes.size(); i-- > 0;)
    if (find(scopes[i].registers, Operand::Kind::Register) ||
        find(scopes[i].variables, Operand::Kind::Variable))
      return true;
  return false;
}

/// Names with a percent sign that are not declared are predefined; whether there is one is checked
/// where it is read.
bool Parser::parseRegister(Operand &operand) {
  if (token.kind != Token::Kind::Register && token.kind != Token::Kind::Word)
    return expected("a register");
  if (!findLocal(operand)) {
    if (token.kind != Token::Kind::Register)
      return fail("register '" + std::string(token.text) + "' is not declared");
    operand.kind = Operand::Kind::Special;
    operand.name = token.text;
  }
  take();
  return true;
}

/// [register], [symbol], [number], each perhaps with an offset.
bool Parser::parseAddress(Operand &operand) {
  take();
  operand.kind = Operand::Kind::Address;
  if (token.kind == Token::Kind::Integer || token.is('-'))
    return requireInteger(operand.value) && require(']');
  if (!parseSimple(operand.elements.emplace_back()))
    return false;
  Operand::Kind base = operand.elements.front().kind;
  if (base != Operand::Kind::Register && base != Operand::Kind::Variable &&
      base != Operand::Kind::Symbol)
    return fail("expected an address");
  if (takeIf('+') ? !requireInteger(operand.value)
                  : token.is('-') && !requireInteger(operand.value))
    return false;
  return require(']');
}

bool Parser::parseNumber(Operand &operand) {
  if (token.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.isDouble = token.isDouble;
    operand.value = take().value;
    return true;
  }
  operand.kind = Operand::Kind::Integer;
  if (token.kind != Token::Kind::Integer && !token.is('-'))
    return expected("an operand");
  return requireInteger(operand.value);
}

std::optional<Module> parse(const std::string &text, Error &error) {
  Module module;
  if (!Parser(text, error).parseModule(module))
    return std::nullopt;
  return module;
}

} // namespace tfc::gpu::ptx
