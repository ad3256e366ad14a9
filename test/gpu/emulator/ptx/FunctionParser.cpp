//===- FunctionParser.cpp - Reads the functions of PTX --------------------===//
//
// Registers and the variables of functions have the scope of the block in braces in which they are
// declared (4.4), labels that of the function, and may be used before they are set.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Parser.h"

namespace tfc::gpu::ptx {

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
    if (takeIf("branchtargets"))
      return parseTargets(instruction.name, instruction.place);
    bool isNew = labels.try_emplace(instruction.name, function.instructions.size()).second;
    return isNew || failAt(instruction.place, "label '" + instruction.name + "' is set twice");
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

/// A list of labels with a name, for brx.idx (11.3.4).
bool Parser::parseTargets(const std::string &name, Place place) {
  auto [found, isNew] = targets.try_emplace(name, Targets{place, {}});
  if (!isNew)
    return failAt(place, "label '" + name + "' is set twice");
  do {
    if (!requireWord(found->second.labels.emplace_back()))
      return false;
  } while (takeIf(','));
  return require(';');
}

/// Replaces the names of labels in lists by instructions, and the names of lists by numbers.
bool Parser::resolveTargets(Function &function) {
  for (const auto &[name, list] : targets) {
    std::vector<unsigned> &numbers = function.targets.emplace_back();
    for (const std::string &label : list.labels) {
      auto found = labels.find(label);
      if (found == labels.end())
        return failAt(list.place, "'" + label + "' is not declared");
      numbers.push_back(found->second);
    }
  }
  for (Instruction &instruction : function.instructions)
    for (Operand &operand : instruction.operands) {
      auto found = targets.find(operand.name);
      if (operand.kind != Operand::Kind::Symbol || found == targets.end())
        continue;
      operand.kind = Operand::Kind::Targets;
      operand.number = std::distance(targets.begin(), found);
    }
  return true;
}

/// Names that are no variables of the function are its labels, or symbols of the module.
bool Parser::resolveNames(Function &function) {
  if (!resolveTargets(function))
    return false;
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
  bool isAddress = operand.kind == Operand::Kind::Variable || operand.kind == Operand::Kind::Symbol;
  if (isAddress && takeIf('+') && !requireInteger(operand.value))
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

} // namespace tfc::gpu::ptx
