//===- Assembler.cpp - PTX to binaries ------------------------------------===//
//
// Finds NVIDIA's assembler and runs it for several architectures at once.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Assembler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Expected<std::string> findAssembler() {
  if (const char *named = std::getenv("TFC_PTXAS"); named && *named) {
    if (sys::fs::can_execute(named))
      return std::string(named);
    return createStringError("TFC_PTXAS names '" + StringRef(named) +
                             "', which is no program that can be run");
  }
  if (ErrorOr<std::string> program = sys::findProgramByName("ptxas"))
    return *program;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char *toolkit = std::getenv(variable);
    std::string folder = toolkit ? std::string(toolkit) + "/bin" : "";
    if (ErrorOr<std::string> program = sys::findProgramByName("ptxas", {folder});
        toolkit && program)
      return *program;
  }
  return createStringError("there is no 'ptxas', which assembles code for single GPUs, in PATH, "
                           "CUDA_HOME or CUDA_PATH; TFC_PTXAS may name it");
}

namespace {

/// A run of the assembler. Its files exist as long as it.
class Run {
public:
  /// Begins to assemble the file `source`.
  Error begin(StringRef program, StringRef source, int64_t capability);
  /// Waits for the end, and returns the binary.
  Expected<std::string> finish();

private:
  std::string name;
  SmallString<128> binary, log;
  FileRemover binaryRemover, logRemover;
  sys::ProcessInfo process;
};

} // namespace

/// Creates an empty file, which the remover deletes.
static Error createFile(StringRef suffix, SmallVectorImpl<char> &path, FileRemover &remover) {
  if (std::error_code error = sys::fs::createTemporaryFile("tfc", suffix, path))
    return createStringError(error, "cannot create a temporary file: " + error.message());
  remover.setFile(Twine(path));
  return Error::success();
}

Error Run::begin(StringRef program, StringRef source, int64_t capability) {
  name = "sm_" + std::to_string(capability);
  if (Error error = createFile("cubin", binary, binaryRemover))
    return error;
  if (Error error = createFile("log", log, logRemover))
    return error;
  std::string architecture = "-arch=" + name, message;
  StringRef command[] = {program, architecture, source, "-o", binary};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  bool hasFailed = false;
  process = sys::ExecuteNoWait(program, command, std::nullopt, redirects, 0, &message, &hasFailed);
  if (hasFailed)
    return createStringError("cannot run " + program + ": " + message);
  return Error::success();
}

Expected<std::string> Run::finish() {
  std::string message;
  sys::ProcessInfo ended = sys::Wait(process, std::nullopt, &message);
  auto contents = MemoryBuffer::getFile(ended.ReturnCode == 0 ? binary : log);
  if (ended.ReturnCode == 0 && contents && (*contents)->getBufferSize() > 0)
    return (*contents)->getBuffer().str();
  if (ended.ReturnCode != 0 && contents)
    message += (*contents)->getBuffer();
  StringRef reason = StringRef(message).trim();
  return createStringError("ptxas makes no code for " + name + ": " +
                           (reason.empty() ? "it gives no reason" : reason.str()));
}

Expected<std::vector<std::string>> tfc::gpu::assemble(StringRef ptx,
                                                      ArrayRef<int64_t> capabilities) {
  Expected<std::string> program = findAssembler();
  if (!program)
    return program.takeError();
  SmallString<128> source;
  FileRemover remover;
  if (Error error = createFile("ptx", source, remover))
    return error;
  std::error_code code;
  raw_fd_ostream stream(source, code);
  stream << ptx;
  stream.close();
  if (code || stream.has_error())
    return createStringError("cannot write a temporary file");
  std::vector<Run> runs(capabilities.size());
  size_t begun = 0;
  Error failure = Error::success();
  for (; begun < runs.size() && !failure; ++begun)
    failure = runs[begun].begin(*program, source, capabilities[begun]);
  std::vector<std::string> binaries;
  for (Run &run : MutableArrayRef(runs).take_front(failure ? begun - 1 : begun)) {
    Expected<std::string> binary = run.finish();
    if (binary)
      binaries.push_back(std::move(*binary));
    else if (failure)
      consumeError(binary.takeError());
    else
      failure = binary.takeError();
  }
  if (failure)
    return failure;
  return binaries;
}
