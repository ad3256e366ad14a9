#include "tools/tfc/Commands.h"
#include "tools/tfc/ErrorPage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

/// The section of the page whose heading is `slug`; "" if there is none.
static StringRef findSection(StringRef slug) {
  StringRef page = kErrorPage;
  std::string heading = ("\n## " + slug + "\n").str();
  size_t at = page.find(heading);
  if (at == StringRef::npos)
    return "";
  StringRef section = page.drop_front(at + heading.size());
  return section.take_front(section.find("\n## ")).trim();
}

/// The heading that is closest to what was asked for.
static StringRef findSimilar(StringRef slug) {
  StringRef rest = kErrorPage, best;
  unsigned bestDistance = 4;
  for (size_t at; (at = rest.find("\n## ")) != StringRef::npos;) {
    rest = rest.drop_front(at + 4);
    StringRef heading = rest.take_until([](char c) { return c == '\n'; });
    if (unsigned distance = heading.edit_distance(slug); distance < bestDistance) {
      bestDistance = distance;
      best = heading;
    }
  }
  return best;
}

int tfc::runExplain(StringRef slug) {
  slug = slug.trim("[]");
  StringRef section = findSection(slug);
  if (!section.empty()) {
    outs() << section << '\n';
    return 0;
  }
  StringRef similar = findSimilar(slug);
  return reportError("no error has the name '" + slug + "'" +
                     (similar.empty() ? "" : "; did you mean '" + similar.str() + "'?"));
}
