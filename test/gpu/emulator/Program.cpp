//===- Program.cpp - A PTX module, ready to be launched -------------------===//
//
// Lays out the variables of a module in the memory of the device, of blocks and of threads, and
// decodes its functions. Functions have one set of registers and variables per thread, which is why
// recursion is refused.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Program.h"
#include "test/gpu/emulator/decode/Decoder.h"
#include "test/gpu/emulator/execute/Block.h"
#include "test/gpu/emulator/instructions/Control.h"
#include "test/gpu/emulator/ptx/Order.h"
#include <algorithm>
#include <cstring>

namespace tfc::gpu {

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Functions return false after an error.
class Loader {
public:
  Loader(Memory &memory, std::string &error) : program(new Program(memory)), error(error) {}

  bool load(ptx::Module parsed);

  std::unique_ptr<Program> program;

private:
  bool failAt(ptx::Place place, const std::string &message) {
    error = ptx::Error{place, message}.str();
    return false;
  }

  // Layout.
  bool addVariables();
  bool addVariable(const ptx::Variable &variable);
  bool initialise(const ptx::Variable &variable);
  bool addFunctions();
  void layOutParameters(const ptx::Function &function, Code &code, Scope &scope);
  void layOutVariables(const ptx::Function &function, Code &code, Scope &scope);
  void layOutCallParameters();
  void setDynamicAlign();
  uint64_t allocateShared(uint64_t &end, const ptx::Variable &variable);

  // Code.
  bool decode(const ptx::Function &function, Code &code, Scope &scope);
  bool decode(const ptx::Instruction &source, const Scope &scope);
  void decodeGuard(Decoder &decoder);
  bool decodeCall(Decoder &decoder);
  bool addCall(Decoder &decoder, const ptx::Operand *results, const ptx::Operand &callee,
               const ptx::Operand *arguments);
  bool checkRecursion(uint32_t function, std::vector<int> &states);

  ptx::Module module;
  std::string &error;
  Constants constants;
  std::unordered_map<std::string, Symbol> symbols;
  std::vector<const ptx::Function *> sources; // of the program's functions
  std::vector<Scope> scopes;
  uint64_t sharedEnd = kSharedBegin; // of the variables of the module
  uint64_t dynamicAlign = 16;
};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

uint64_t Loader::allocateShared(uint64_t &end, const ptx::Variable &variable) {
  uint64_t address = alignTo(end, variable.align);
  end = address + variable.size();
  return address;
}

bool Loader::addVariables() {
  for (const ptx::Variable &variable : module.variables)
    if (!addVariable(variable))
      return false;
  for (const ptx::Variable &variable : module.variables)
    if (!initialise(variable))
      return false;
  return true;
}

bool Loader::addVariable(const ptx::Variable &variable) {
  Symbol symbol{variable.space, 0, static_cast<uint64_t>(variable.size())};
  if (variable.space == ptx::Space::Shared) {
    if (variable.elements)
      symbol.address = allocateShared(sharedEnd, variable);
  } else {
    if (variable.isExternal || symbol.bytes == 0)
      return failAt(variable.place, "variable '" + variable.name + "' has no definition");
    bool isConstant = variable.space == ptx::Space::Constant;
    symbol.address = program->memory.allocate(symbol.bytes, isConstant);
    if (symbol.address == 0)
      return failAt(variable.place, "no memory for variable '" + variable.name + "'");
    program->variables.push_back({variable.name, symbol.address, symbol.bytes});
  }
  symbols[variable.name] = symbol;
  return true;
}

/// Bytes without an initialiser are zero (5.4.4).
bool Loader::initialise(const ptx::Variable &variable) {
  if (variable.space == ptx::Space::Shared)
    return true;
  std::vector<uint8_t> bytes = variable.bytes;
  bytes.resize(variable.size());
  for (const ptx::Variable::Reference &reference : variable.references) {
    auto found = symbols.find(reference.symbol);
    if (found == symbols.end() || variable.type.bytes() != 8)
      return failAt(variable.place,
                    "expected the address of a variable, but got '" + reference.symbol + "'");
    bool isShared = found->second.space == ptx::Space::Shared && reference.isGeneric;
    uint64_t address = found->second.address + reference.addend + (isShared ? kSharedWindow : 0);
    memcpy(&bytes[reference.offset], &address, 8);
  }
  uint64_t address = symbols[variable.name].address;
  error = program->memory.write(address, bytes.size(), bytes.data(), false);
  return error.empty();
}

/// Dynamic shared memory has the alignment of its declarations, and no greater one, which a device
/// does not promise either.
void Loader::setDynamicAlign() {
  auto add = [&](const ptx::Variable &variable) {
    if (variable.space == ptx::Space::Shared && !variable.elements)
      dynamicAlign = std::max<uint64_t>(dynamicAlign, variable.align);
  };
  for (const ptx::Variable &variable : module.variables)
    add(variable);
  for (const ptx::Function *function : sources)
    for (const ptx::Variable &variable : function->variables)
      add(variable);
}

/// The parameters of kernels lie in a space of their own, others in the memory of threads.
void Loader::layOutParameters(const ptx::Function &function, Code &code, Scope &scope) {
  scope.variables.resize(function.variables.size());
  if (!function.isKernel)
    return;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const ptx::Variable &parameter = function.parameters[i];
    uint64_t offset = alignTo(code.parameterBytes, parameter.align);
    auto bytes = static_cast<uint64_t>(parameter.size());
    code.parameters.push_back({offset, bytes});
    code.parameterBytes = offset + bytes;
    scope.variables[i] = {ptx::Space::Parameter, offset, bytes};
  }
}

void Loader::layOutVariables(const ptx::Function &function, Code &code, Scope &scope) {
  uint64_t &local = program->localBytes;
  code.localBegin = local;
  uint64_t shared = sharedEnd;
  for (size_t i = 0; i < function.variables.size(); ++i) {
    const ptx::Variable &variable = function.variables[i];
    auto bytes = static_cast<uint64_t>(variable.size());
    Symbol &symbol = scope.variables[i];
    if (variable.space == ptx::Space::Local) {
      local = alignTo(local, variable.align);
      symbol = {ptx::Space::Local, local, bytes};
      local += bytes;
    } else if (variable.space == ptx::Space::Shared) {
      uint64_t address = variable.elements ? allocateShared(shared, variable) : 0;
      symbol = {ptx::Space::Shared, address, bytes};
    }
  }
  code.localEnd = local;
  code.staticSharedBytes = shared - kSharedBegin;
  uint64_t &dynamic = program->dynamicSharedBegin;
  dynamic = std::max(dynamic, alignTo(shared, 2 * dynamicAlign) + dynamicAlign);
}

/// Parameters of calls follow the local variables of all functions in the memory of a thread.
void Loader::layOutCallParameters() {
  uint64_t &end = program->threadBytes;
  end = program->localBytes;
  for (size_t f = 0; f < sources.size(); ++f) {
    const ptx::Function &function = *sources[f];
    for (size_t i = 0; i < function.variables.size(); ++i) {
      const ptx::Variable &variable = function.variables[i];
      bool isOfKernel = function.isKernel && i < function.parameters.size();
      if (variable.space != ptx::Space::Parameter || isOfKernel)
        continue;
      end = alignTo(end, std::max<uint64_t>(variable.align, 16));
      scopes[f].variables[i] = {ptx::Space::Parameter, end, static_cast<uint64_t>(variable.size()),
                                true};
      end += variable.size();
    }
  }
}

bool Loader::addFunctions() {
  Row kernelRows = kFirstRegisterRow;
  for (const ptx::Function &function : module.functions) {
    if (function.isExternal || function.instructions.empty()) {
      symbols.try_emplace(function.name, Symbol{.isFunction = true, .function = UINT32_MAX});
      continue;
    }
    auto number = static_cast<uint32_t>(sources.size());
    symbols[function.name] = {.isFunction = true, .function = number};
    sources.push_back(&function);
    if (function.isKernel)
      kernelRows = std::max<Row>(kernelRows, kFirstRegisterRow + function.registers.size());
  }
  program->localBytes = kLocalBegin;
  setDynamicAlign();
  program->rows = kernelRows;
  for (const ptx::Function *function : sources) {
    Code code;
    code.name = function->name;
    code.isKernel = function->isKernel;
    for (const ptx::Register &reg : function->registers)
      code.registers.push_back(reg.name);
    if (!function->isKernel) {
      code.firstRow = program->rows;
      program->rows += function->registers.size();
    }
    std::copy_n(function->maxThreads, 3, code.maxThreads);
    std::copy_n(function->requiredThreads, 3, code.requiredThreads);
    Scope scope{function, &symbols, {}, code.firstRow, 0};
    layOutParameters(*function, code, scope);
    layOutVariables(*function, code, scope);
    program->functions.push_back(std::move(code));
    scopes.push_back(std::move(scope));
  }
  layOutCallParameters();
  // Arrays without a size are the dynamic shared memory, which all of them share (5.4.2).
  auto setDynamic = [&](Symbol &symbol) {
    if (!symbol.isFunction && symbol.space == ptx::Space::Shared && symbol.address == 0)
      symbol.address = program->dynamicSharedBegin;
  };
  for (auto &[name, symbol] : symbols)
    setDynamic(symbol);
  for (Scope &scope : scopes)
    for (Symbol &symbol : scope.variables)
      setDynamic(symbol);
  return true;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void Loader::decodeGuard(Decoder &decoder) {
  const std::optional<ptx::Operand> &guard = decoder.source.guard;
  if (!guard)
    return;
  const ptx::Register &reg = decoder.scope.function->registers[guard->number];
  if (reg.type.kind != ptx::Type::Kind::Predicate)
    decoder.fail("expected a predicate, but got '" + reg.name + "'");
  decoder.instruction.hasGuard = true;
  decoder.instruction.isGuardNegated = guard->isNegated;
  decoder.instruction.guard = decoder.scope.firstRow + guard->number;
}

/// call{.uni} {(result),} function {, (arguments)} (9.7.12.5).
bool Loader::decodeCall(Decoder &decoder) {
  decoder.takeIf("uni");
  decoder.endModifiers();
  const std::vector<ptx::Operand> &operands = decoder.source.operands;
  size_t i = 0;
  auto takeList = [&]() -> const ptx::Operand * {
    bool isList = i < operands.size() && operands[i].kind == ptx::Operand::Kind::List;
    return isList ? &operands[i++] : nullptr;
  };
  const ptx::Operand *results = takeList();
  if (i == operands.size()) {
    decoder.fail("expected a function");
    return false;
  }
  const ptx::Operand &callee = operands[i++];
  const ptx::Operand *arguments = takeList();
  decoder.requireCount(i);
  return addCall(decoder, results, callee, arguments);
}

bool Loader::addCall(Decoder &decoder, const ptx::Operand *results, const ptx::Operand &callee,
                     const ptx::Operand *arguments) {
  const Symbol *symbol = decoder.symbolOf(callee);
  if (!symbol || !symbol->isFunction || symbol->function == UINT32_MAX ||
      sources[symbol->function]->isKernel) {
    decoder.fail("expected a function with a body, but got '" + callee.name + "'");
    return false;
  }
  Call call{symbol->function, {}, {}};
  const ptx::Function &function = *sources[call.function];
  const Scope &scope = scopes[call.function];
  auto copy = [&](const ptx::Operand *list, size_t first, size_t count, bool isToCallee,
                  std::vector<Call::Copy> &copies) {
    if ((list ? list->elements.size() : 0) != count)
      return decoder.fail("expected " + std::to_string(count) +
                          (isToCallee ? " arguments of '" : " results of '") + function.name + "'");
    for (size_t i = 0; i < count; ++i) {
      const Symbol &inner = scope.variables[first + i];
      const Symbol *outer = decoder.requireCallParameter(list->elements[i]);
      if (!outer)
        return;
      if (outer->bytes != inner.bytes)
        return decoder.fail("expected a parameter of " + std::to_string(inner.bytes) +
                            " bytes, but got " + std::to_string(outer->bytes));
      copies.push_back(isToCallee ? Call::Copy{outer->address, inner.address, inner.bytes}
                                  : Call::Copy{inner.address, outer->address, inner.bytes});
    }
  };
  copy(results, 0, function.results.size(), false, call.results);
  copy(arguments, function.results.size(), function.parameters.size(), true, call.arguments);
  decoder.instruction.target = static_cast<uint32_t>(program->calls.size());
  decoder.setExecute(executeCall, Class::Control);
  program->calls.push_back(std::move(call));
  return !decoder.hasFailed();
}

bool Loader::decode(const ptx::Instruction &source, const Scope &scope) {
  Decoder decoder(scope, constants, source);
  decodeGuard(decoder);
  if (source.name == "call") {
    decodeCall(decoder);
  } else if (source.name == "brx") {
    decodeIndexedBranch(decoder, program->targets);
  } else if (const Entry *entry = findEntry(source, decoder.lastType())) {
    entry->decode(decoder);
  } else {
    decoder.failUnknown();
  }
  if (!decoder.hasFailed() && !decoder.instruction.execute)
    decoder.failUnknown();
  if (decoder.hasFailed())
    return failAt(source.place, decoder.getError());
  program->instructions.push_back(decoder.instruction);
  return true;
}

bool Loader::decode(const ptx::Function &function, Code &code, Scope &scope) {
  code.begin = scope.firstInstruction = static_cast<uint32_t>(program->instructions.size());
  for (const ptx::Instruction &instruction : function.instructions)
    if (!decode(instruction, scope))
      return false;
  // A function that ends without a return returns there.
  Instruction end;
  end.execute = executeReturn;
  end.group = Class::Control;
  end.line = function.instructions.back().place.line;
  program->instructions.push_back(end);
  code.end = static_cast<uint32_t>(program->instructions.size());
  for (uint32_t number : ptx::orderOf(function))
    program->order.push_back(code.begin + number);
  return true;
}

/// States: 0 is new, 1 is being visited, 2 is done.
bool Loader::checkRecursion(uint32_t function, std::vector<int> &states) {
  if (states[function] == 1)
    return failAt(sources[function]->place,
                  "function '" + sources[function]->name + "' is recursive");
  if (states[function] == 2)
    return true;
  states[function] = 1;
  const Code &code = program->functions[function];
  for (uint32_t i = code.begin; i < code.end; ++i) {
    const Instruction &instruction = program->instructions[i];
    if (instruction.execute == executeCall &&
        !checkRecursion(program->calls[instruction.target].function, states))
      return false;
  }
  states[function] = 2;
  return true;
}

bool Loader::load(ptx::Module parsed) {
  module = std::move(parsed);
  if (!addVariables() || !addFunctions())
    return false;
  for (size_t i = 0; i < sources.size(); ++i)
    if (!decode(*sources[i], program->functions[i], scopes[i]))
      return false;
  std::vector<int> states(sources.size());
  for (uint32_t i = 0; i < sources.size(); ++i)
    if (!checkRecursion(i, states))
      return false;
  program->constants = std::move(constants.cells);
  return true;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::unique_ptr<Program> Program::load(const std::string &text, Memory &memory,
                                       std::string &error) {
  ptx::Error parseError;
  if (std::optional<ptx::Module> module = ptx::parse(text, parseError))
    return load(std::move(*module), memory, error);
  error = parseError.str();
  return nullptr;
}

std::unique_ptr<Program> Program::load(ptx::Module module, Memory &memory, std::string &error) {
  Loader loader(memory, error);
  error.clear();
  return loader.load(std::move(module)) ? std::move(loader.program) : nullptr;
}

Program::~Program() {
  for (const GlobalVariable &variable : variables)
    memory.release(variable.address);
}

const Code *Program::findKernel(const std::string &name) const {
  for (const Code &code : functions)
    if (code.isKernel && code.name == name)
      return &code;
  return nullptr;
}

const GlobalVariable *Program::findVariable(const std::string &name) const {
  for (const GlobalVariable &variable : variables)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

} // namespace tfc::gpu
