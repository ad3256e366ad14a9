//===- Module.h - A PTX module as it is written ---------------------------===//
//
// The syntax of the PTX ISA 8.0, chapters 4 and 5: directives, declarations and
// instructions, with registers and labels resolved. The meaning of instructions
// is not known here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tfc::gpu::ptx {

/// A place in the text, from 1 on.
struct Place {
  int line = 0, column = 0;
};

/// State spaces (5.1).
enum class Space { Generic, Register, Constant, Global, Local, Parameter, Shared };

/// Fundamental types (5.2.1). Predicates have 1 bit.
struct Type {
  enum class Kind { Bits, Unsigned, Signed, Float, Predicate };
  Kind kind = Kind::Bits;
  int bits = 0;

  int bytes() const { return bits / 8; }
};

/// A register of a function. Names of inner scopes may hide those of outer ones.
struct Register {
  std::string name;
  Type type;
};

/// A variable in memory, or a parameter.
struct Variable {
  /// An address in the initialiser.
  struct Reference {
    int64_t offset; // in the variable, in bytes
    std::string symbol;
    int64_t addend;
    bool isGeneric; // generic(symbol)
  };

  Place place;
  std::string name;
  Space space = Space::Global;
  Type type;
  int64_t align = 0;               // in bytes
  std::optional<int64_t> elements; // none for an array without a size
  bool isArray = false, isExternal = false, isVisible = false;
  std::vector<uint8_t> bytes; // of the initialiser; zeros follow
  std::vector<Reference> references;

  /// The size in bytes, 0 for an array without a size.
  int64_t size() const { return elements.value_or(0) * type.bytes(); }
};

struct Operand {
  enum class Kind {
    Register, // a declared register
    Special,  // a predefined one, such as %tid.x (chapter 10)
    Integer,
    Float,
    Variable, // a variable or parameter of the function
    Symbol,   // a variable of the module, or a function
    Label,    // of an instruction of the function
    Targets,  // a list of labels of the function
    Address,  // [base + offset]
    Vector,   // {a, b}
    Pair,     // p|q
    List,     // (a, b) of a call
    Sink      // _
  };

  Kind kind = Kind::Sink;
  bool isNegated = false; // !p
  unsigned number = 0;    // of a register, variable, instruction or list of targets of the function
  std::string name;       // of a special register or symbol
  int64_t value = 0;      // an integer, the bits of a float, an offset from an address
  bool isDouble = false;  // of a float: 64 bits
  std::vector<Operand> elements; // of vectors, pairs and lists; the base of an address, if any
};

struct Instruction {
  Place place;
  std::optional<Operand> guard;       // @p or @!p
  std::string name;                   // ld
  std::vector<std::string> modifiers; // global, v4, f32
  std::vector<Operand> operands;

  /// The name with its modifiers, for messages.
  std::string str() const;
};

struct Function {
  Place place;
  std::string name;
  bool isKernel = false, isExternal = false, isVisible = false;
  std::vector<Variable> results, parameters; // of kernels only parameters
  std::vector<Variable> variables;           // local, shared, and parameters of calls
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  std::vector<std::vector<unsigned>> targets; // lists of instructions, for brx.idx
  /// Threads of a block in x, y and z: at most, or exactly. 0 stands for no such directive.
  int64_t maxThreads[3] = {}, requiredThreads[3] = {};
};

struct Module {
  int version = 0;    // 10 * major + minor
  std::string target; // sm_80
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

struct Error {
  Place place;
  std::string message;

  /// The message after the line, as in "line 3: expected ';', but got 'ret'".
  std::string str() const;
};

/// Parses the text of a module. Returns none, and the first error, if it is not one, or uses what
/// is not known here: nothing is skipped.
std::optional<Module> parse(const std::string &text, Error &error);

} // namespace tfc::gpu::ptx
