//===- Text.cpp - Programs as files ---------------------------------------===//
//
// Writes programs with their calls to files, and reads them again as test cases.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "frontend/Import.h"
#include "frontend/text/print/Print.h"
#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

static constexpr StringLiteral kCall = " CALL ", kAfter = " AFTER ";

/// The module in the language if that is possible and requested; sets whether it is.
static std::string print(ModuleOp module, bool &isGraph) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  isGraph = isGraph && succeeded(text::printGraph(module, os));
  if (!isGraph) {
    text.clear();
    module.print(os);
  }
  return text;
}

static std::string toText(const Program &program, StringRef comment, bool &isGraph) {
  isGraph = isGraph && program.after.empty();
  std::string body = print(*program.module, isGraph);
  std::string mark = isGraph ? "#" : "//";
  std::string text;
  SmallVector<StringRef> lines;
  comment.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    text += mark + " " + line.str() + "\n";
  if (!program.after.empty())
    text += mark + kAfter.str() + program.after + "\n";
  for (const CallPlan &call : program.calls) {
    text += mark + kCall.str() + call.entry + " seed=" + std::to_string(call.seed);
    for (const auto &[name, size] : call.sizes)
      text += " " + name + "=" + std::to_string(size);
    text += "\n";
  }
  return text + "\n" + body;
}

std::string toText(const Program &program, StringRef comment) {
  bool isGraph = true;
  return toText(program, comment, isGraph);
}

std::string writeProgram(const Program &program, StringRef stem, StringRef comment) {
  bool isGraph = true;
  auto write = [&] {
    std::string text = toText(program, comment, isGraph);
    std::string path = (stem + (isGraph ? ".graph" : ".mlir")).str();
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    return path;
  };
  std::string path = write();
  MLIRContext *context = ModuleOp(*program.module).getContext();
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  if (!isGraph || succeeded(readProgram(*context, path)))
    return path;
  // The language has a requirement that graphs do not have: an order of effects.
  llvm::sys::fs::remove(path);
  isGraph = false;
  return write();
}

static CallPlan parseCall(StringRef line) {
  SmallVector<StringRef> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  CallPlan call{words.empty() ? "" : words.front().str(), {}, 0};
  for (StringRef word : ArrayRef(words).drop_front(!words.empty())) {
    auto [name, number] = word.split('=');
    int64_t value = 0;
    (void)number.getAsInteger(10, value);
    if (name == "seed")
      call.seed = value;
    else
      call.sizes[name.str()] = value;
  }
  return call;
}

/// Calls for a file that names none: each entry, with some sizes.
static void addCalls(Program &program) {
  for (auto entry : program.module->getOps<EntryOp>())
    for (int64_t size : {3, 1, 17}) {
      CallPlan call{entry.getSymName().str(), {}, uint64_t(size)};
      if (entry.getSymbols())
        for (StringRef name : entry.getSymbolsAttr().getAsValueRange<StringAttr>())
          call.sizes[name.str()] = size;
      if (!entry.getInitializer())
        program.calls.push_back(call);
    }
}

FailureOr<Program> readProgram(MLIRContext &context, StringRef path) {
  static text::SourceManager sources;
  Program program;
  program.module = importFile(path, context, sources);
  if (!program.module)
    return failure();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return failure();
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    if (auto [mark, call] = line.split(kCall); mark == "#" || mark == "//")
      program.calls.push_back(parseCall(call));
    if (auto [mark, stage] = line.split(kAfter); mark == "//")
      program.after = stage.str();
  }
  if (program.calls.empty())
    addCalls(program);
  return program;
}

} // namespace tfc::random
