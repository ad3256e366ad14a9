#include "compiler/pipeline/Timing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tfc;

double Timing::total() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.seconds;
  return sum;
}

static void printRow(llvm::raw_ostream &os, llvm::StringRef name, double seconds, double total) {
  double share = total > 0 ? 100 * seconds / total : 0;
  os << llvm::left_justify(name, 14) << llvm::format("%10.2f %7.1f %%\n", seconds * 1e3, share);
}

void Timing::print(llvm::raw_ostream &os) const {
  double sum = total();
  os << llvm::left_justify("stage", 14) << "        ms     share\n";
  for (const Row &row : rows)
    printRow(os, row.name, row.seconds, sum);
  printRow(os, "total", sum, sum);
}
