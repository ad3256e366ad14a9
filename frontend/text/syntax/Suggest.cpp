// Finds the candidate most similar to a misspelled name. It knows only words: keywords, names of
// declarations and headings of the documentation are alike to it.
#include "frontend/text/syntax/Suggest.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace llvm;

namespace tfc::text {

/// The number of letters to insert, delete, replace or swap with their neighbour.
static unsigned editDistance(StringRef a, StringRef b) {
  SmallVector<unsigned> beforeLast, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

/// The candidate for a longer name of other libraries, such as `concatenate` or `reduce_sum`.
static StringRef findShorter(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef best;
  for (StringRef candidate : candidates) {
    bool isBeginning = name.starts_with(candidate) && 2 * candidate.size() >= name.size();
    bool isLastWord = name.ends_with(candidate) && name.drop_back(candidate.size()).ends_with("_");
    if (candidate.size() >= 3 && candidate.size() > best.size() && (isBeginning || isLastWord))
      best = candidate;
  }
  return best;
}

StringRef findSimilar(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef best;
  unsigned least = std::max<size_t>(1, name.size() / 3) + 1;
  std::string lower = name.lower();
  for (StringRef candidate : candidates) {
    size_t longer = std::max(name.size(), candidate.size());
    bool isFar = longer - std::min(name.size(), candidate.size()) >= least;
    // A name of one letter is not similar to another one.
    if (isFar || candidate.empty() || candidate == name)
      continue;
    unsigned distance = editDistance(lower, candidate.lower());
    if (distance >= least || distance >= longer)
      continue;
    least = distance;
    best = candidate;
  }
  return best.empty() ? findShorter(lower, candidates) : best;
}

} // namespace tfc::text
