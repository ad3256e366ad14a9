// The command `tfc explain`: prints a section of docs/errors.md.
#include "frontend/Fmt.h"
#include "frontend/text/syntax/Suggest.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/ErrorPage.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

/// The section of the page whose heading is `slug`; "" if there is none.
static StringRef findSection(StringRef slug) {
  StringRef page = kErrorPage;
  std::string heading = fmt::format("\n## {}\n", slug);
  size_t at = page.find(heading);
  if (at == StringRef::npos)
    return "";
  StringRef section = page.drop_front(at + heading.size());
  return section.take_front(section.find("\n## ")).trim();
}

/// The headings of all sections.
static SmallVector<StringRef> allHeadings() {
  SmallVector<StringRef> headings;
  StringRef rest = kErrorPage;
  for (size_t at; (at = rest.find("\n## ")) != StringRef::npos;) {
    rest = rest.drop_front(at + 4);
    headings.push_back(rest.take_until([](char c) { return c == '\n'; }));
  }
  return headings;
}

int tfc::runExplain(StringRef slug) {
  slug = slug.trim("[]");
  StringRef section = findSection(slug);
  if (!section.empty()) {
    outs() << section << '\n';
    return 0;
  }
  StringRef similar = text::findSimilar(slug, allHeadings());
  return reportError(fmt::format("no error has the name '{}'{}", slug,
                                 similar.empty() ? "" : "; did you mean '" + similar.str() + "'?"));
}
