//===- Program.cpp - Decodes modules --------------------------------------===//
//
// Lays out the variables of a module and of its kernels, and decodes the instructions.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/decode/Form.h"
#include <algorithm>
#include <cstring>

namespace tfc::gpu {

static uint64_t alignTo(uint64_t offset, uint64_t align) {
  return (offset + align - 1) / align * align;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Decodes one kernel.
class KernelDecoder final : public Symbols {
public:
  KernelDecoder(const ptx::Module &module, const ptx::Function &function, const Program &program,
                Kernel &kernel, ptx::Error &error)
      : module(module), function(function), program(program), kernel(kernel), error(error) {}

  bool run();

private:
  bool find(const ptx::Operand &operand, ptx::Space &space, uint64_t &address) const override;
  bool fail(ptx::Place place, const std::string &message) {
    error = {place, message};
    return false;
  }
  bool layOut();
  uint64_t place(uint64_t &size, const ptx::Variable &variable);
  bool decode(const ptx::Instruction &instruction);
  void numberRegisters();

  const ptx::Module &module;
  const ptx::Function &function;
  const Program &program;
  Kernel &kernel;
  ptx::Error &error;
  std::vector<uint64_t> offsets;                 // of the variables of the function
  std::map<std::string, uint64_t> sharedOffsets; // of those of the module
  std::unordered_map<uint64_t, Row> constants;
};
} // namespace

uint64_t KernelDecoder::place(uint64_t &size, const ptx::Variable &variable) {
  uint64_t offset = alignTo(size, variable.align);
  size = offset + variable.size();
  return offset;
}

/// Shared variables of the module are laid out for each kernel; those without a size are at the
/// end.
bool KernelDecoder::layOut() {
  for (const ptx::Variable &variable : function.variables) {
    uint64_t *size = variable.space == ptx::Space::Parameter ? &kernel.parameterBytes
                     : variable.space == ptx::Space::Shared  ? &kernel.sharedBytes
                                                             : &kernel.localBytes;
    bool isParameter = offsets.size() < function.parameters.size();
    if (variable.space == ptx::Space::Parameter && !isParameter)
      return fail(variable.place, "calls are not known");
    offsets.push_back(place(*size, variable));
    if (isParameter) {
      kernel.parameterOffsets.push_back(offsets.back());
      kernel.parameterSizes.push_back(variable.size());
    }
  }
  uint64_t align = 1;
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space != ptx::Space::Shared)
      continue;
    if (variable.elements)
      sharedOffsets[variable.name] = place(kernel.sharedBytes, variable);
    else
      align = std::max<uint64_t>(align, variable.align);
  }
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == ptx::Space::Shared && !variable.elements) {
      kernel.hasDynamicShared = true;
      sharedOffsets[variable.name] = kernel.sharedBytes = alignTo(kernel.sharedBytes, align);
    }
  return true;
}

bool KernelDecoder::find(const ptx::Operand &operand, ptx::Space &space, uint64_t &address) const {
  if (operand.kind == ptx::Operand::Kind::Variable) {
    space = function.variables[operand.number].space;
    address = offsets[operand.number];
    return true;
  }
  if (operand.kind != ptx::Operand::Kind::Symbol)
    return false;
  for (const ptx::Variable &variable : module.variables) {
    if (variable.name != operand.name)
      continue;
    space = variable.space;
    uint64_t ignored;
    address = space == ptx::Space::Shared ? sharedOffsets.at(variable.name)
                                          : program.addressOf(variable.name, ignored);
    return true;
  }
  return false;
}

bool KernelDecoder::decode(const ptx::Instruction &instruction) {
  Decode decode = findDecode(instruction);
  if (!decode)
    return fail(instruction.place, "unknown instruction '" + instruction.str() + "'");
  Form form(instruction, function, *this, kernel, constants, error);
  if (!decode(form) || !form.addGuard())
    return false;
  kernel.instructions.push_back(form.out);
  return true;
}

/// Gives the registers their rows after the constants.
void KernelDecoder::numberRegisters() {
  unsigned first = kSpecialRows + kernel.constants.size(), count = function.registers.size();
  auto number = [&](Row &row) {
    if (unsigned fromEnd = UINT16_MAX - row; fromEnd < count)
      row = first + fromEnd;
  };
  for (Instruction &instruction : kernel.instructions) {
    std::for_each(instruction.operands, instruction.operands + instruction.operandCount, number);
    number(instruction.guard);
  }
  for (const ptx::Register &reg : function.registers)
    kernel.names.push_back(reg.name);
}

bool KernelDecoder::run() {
  kernel.name = function.name;
  std::copy_n(function.maxThreads, 3, kernel.maxThreads);
  std::copy_n(function.requiredThreads, 3, kernel.requiredThreads);
  if (function.registers.size() > UINT16_MAX / 2)
    return fail(function.place, "there are too many registers");
  if (!layOut())
    return false;
  for (const std::vector<ptx::Operand> &list : function.targets) {
    std::vector<uint32_t> &targets = kernel.targets.emplace_back();
    for (const ptx::Operand &label : list)
      targets.push_back(label.number);
  }
  for (const ptx::Instruction &instruction : function.instructions)
    if (!decode(instruction))
      return false;
  if (kernel.rows() > UINT16_MAX)
    return fail(function.place, "there are too many registers");
  numberRegisters();
  return true;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Program::~Program() {
  for (const auto &[name, global] : globals)
    memory.release(global.address);
}

bool Program::allocate(const ptx::Module &module, ptx::Error &error) {
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ptx::Space::Shared)
      continue;
    if (variable.isExternal) {
      error = {variable.place, "variable '" + variable.name + "' is not defined"};
      return false;
    }
    uint64_t bytes = variable.size();
    uint64_t address = memory.allocate(bytes, variable.space == ptx::Space::Constant);
    if (address == 0) {
      error = {variable.place, "there is no memory for variable '" + variable.name + "'"};
      return false;
    }
    globals[variable.name] = {address, bytes};
  }
  for (const ptx::Variable &variable : module.variables)
    if (variable.space != ptx::Space::Shared && !initialize(variable, error))
      return false;
  return true;
}

/// Variables without an initialiser are zeros (5.4.4).
bool Program::initialize(const ptx::Variable &variable, ptx::Error &error) {
  std::vector<uint8_t> bytes = variable.bytes;
  bytes.resize(variable.size());
  for (const ptx::Variable::Reference &reference : variable.references) {
    auto found = globals.find(reference.symbol);
    if (found == globals.end()) {
      error = {variable.place, "'" + reference.symbol + "' has no address here"};
      return false;
    }
    uint64_t address = found->second.address + reference.addend;
    memcpy(&bytes[reference.offset], &address, std::min<size_t>(8, variable.type.bytes()));
  }
  memory.write(globals[variable.name].address, bytes.size(), bytes.data(), false);
  return true;
}

std::unique_ptr<Program> Program::load(const std::string &text, Memory &memory, ptx::Error &error) {
  std::optional<ptx::Module> module = ptx::parse(text, error);
  std::unique_ptr<Program> program(new Program(memory));
  if (!module || !program->allocate(*module, error))
    return nullptr;
  for (const ptx::Function &function : module->functions) {
    if (!function.isKernel) {
      error = {function.place, "function '" + function.name + "' is not a kernel"};
      return nullptr;
    }
    Kernel &kernel = program->kernels.emplace_back();
    if (!KernelDecoder(*module, function, *program, kernel, error).run())
      return nullptr;
  }
  return program;
}

const Kernel *Program::find(std::string_view name) const {
  auto found = std::find_if(kernels.begin(), kernels.end(),
                            [&](const Kernel &kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

uint64_t Program::addressOf(std::string_view name, uint64_t &bytes) const {
  auto found = globals.find(name);
  bytes = found == globals.end() ? 0 : found->second.bytes;
  return found == globals.end() ? 0 : found->second.address;
}

} // namespace tfc::gpu
