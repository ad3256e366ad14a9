// The program tfc: parses the command line and runs the command.
#include "tools/tfc/Commands.h"
#include "tools/tfc/Crash.h"
#include "llvm/Support/InitLLVM.h"

using namespace tfc;

int main(int argc, char **argv) {
  installCrashHandler();
  llvm::InitLLVM init(argc, argv);
  int exitCode = 0;
  std::optional<CommandLine> command = parseCommandLine(argc, argv, exitCode);
  if (!command)
    return exitCode;
  switch (command->command) {
  case CommandLine::Command::Compile:
    return runCompile(command->compile);
  case CommandLine::Command::Check:
    return runCheck(command->compile);
  case CommandLine::Command::Run:
    return runEntry(command->run);
  case CommandLine::Command::Bench:
    return runBench(command->bench);
  case CommandLine::Command::Show:
    return runShow(command->show);
  case CommandLine::Command::Profile:
    return runProfile(command->profile);
  case CommandLine::Command::Format:
    return runFormat(command->format);
  case CommandLine::Command::Explain:
    return runExplain(command->slug);
  }
}
