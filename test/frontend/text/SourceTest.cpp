// Tests the mapping of offsets to lines and columns.
#include "frontend/text/syntax/Source.h"
#include <gtest/gtest.h>

using namespace tfc::text;

namespace {

TEST(Source, CountsColumnsInCharacters) {
  SourceManager sources;
  FileId file = sources.add("a.graph", "x\n\u00e9\u00e9 = \"\U0001F600\"!\r\nlast");
  LineColumn place = sources.lineColumn(file, sources.text(file).find('!'));
  EXPECT_EQ(place.line, 2u);
  EXPECT_EQ(place.column, 9u);
  EXPECT_EQ(sources.line(file, 3), "last");
  EXPECT_EQ(sources.line(file, 4), "");
}

TEST(Source, CountsColumnsOfLongLines) {
  SourceManager sources;
  std::string line;
  for (int i = 0; i < 1000; ++i)
    line += "\u00e9+";
  FileId file = sources.add("a.graph", line + "\n" + line);
  for (uint32_t pair = 0; pair < 1000; ++pair) {
    LineColumn place = sources.lineColumn(file, line.size() + 1 + 3 * pair);
    EXPECT_EQ(place.line, 2u);
    EXPECT_EQ(place.column, 2 * pair + 1);
  }
  EXPECT_EQ(sources.lineColumn(file, sources.text(file).size()).column, 2001u);
}

TEST(Source, FindsEveryPlaceAgain) {
  SourceManager sources;
  FileId file = sources.add("a.graph", "one\n\n\u00e9two\n");
  llvm::StringRef text = sources.text(file);
  for (uint32_t offset = 0; offset <= text.size(); ++offset)
    if (offset == text.size() || (text[offset] & 0xC0) != 0x80)
      EXPECT_EQ(sources.offset(file, sources.lineColumn(file, offset)), offset);
}

TEST(Source, KeepsPlacesOutsideOfTheTextInside) {
  SourceManager sources;
  FileId file = sources.add("a.graph", "one\ntwo");
  EXPECT_EQ(sources.offset(file, {1, 100}), 3u);
  EXPECT_EQ(sources.offset(file, {100, 1}), 7u);
  EXPECT_EQ(sources.offset(file, {0, 0}), 0u);
  EXPECT_EQ(sources.lineColumn(file, 1000).line, 2u);
}

TEST(Source, QuotesSeveralLinesAsOne) {
  SourceManager sources;
  FileId file = sources.add("a.graph", "a == 1 or\r\n    b == 2 or\n  c");
  uint32_t size = sources.text(file).size();
  EXPECT_EQ(sources.oneLine({file, 0, size}), "a == 1 or b == 2 or c");
  EXPECT_EQ(sources.oneLine({file, 0, 6}), "a == 1");
  EXPECT_EQ(sources.oneLine({}), "");
}

} // namespace
