//===- Parser.h - Reads PTX -----------------------------------------------===//

#pragma once

#include "test/gpu/emulator/ptx/Lexer.h"
#include <map>
#include <set>

namespace tfc::gpu::ptx {

std::optional<Type> typeNamed(std::string_view name);
std::optional<Space> spaceNamed(std::string_view name);

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
  bool parseTargets(const std::string &name, Place place);
  bool resolveNames(Function &function);
  bool resolveTargets(Function &function);
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
  std::map<std::string, unsigned, std::less<>> labels;
  struct Targets {
    Place place;
    std::vector<std::string> labels;
  };
  std::map<std::string, Targets, std::less<>> targets;
  std::set<std::string> globals;
};

} // namespace tfc::gpu::ptx
