/// Lays out text in lines: the formatter specifies where a line may end, this class decides where
/// it ends.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc::text {

class Layout {
public:
  explicit Layout(unsigned maxWidth) : maxWidth(maxWidth) {}

  /// Text without newlines. It must live until render().
  void text(llvm::StringRef text);
  /// A possible line break; without a break, `flat` is printed.
  void mayBreak(llvm::StringRef flat);
  /// The end of a line.
  void newline();
  void blankLine();
  /// A comment after everything else on the current line.
  void suffix(llvm::StringRef comment);

  /// A group stays on one line if it fits. If not, its lines are filled or, if it is `consistent`,
  /// break at every possible break.
  void beginGroup(bool consistent = false);
  void endGroup();

  /// Lines that begin before the matching unindent() are indented by `columns` relative to the line
  /// of indent().
  void indent(unsigned columns);
  /// The same for the lines of a block, including its end: they are aligned with the beginning of
  /// the line, or of the statement if the line continues one.
  void beginBlock();
  /// Deeper than beginBlock() by `columns`.
  void indentBlock(unsigned columns);
  /// Ends the last of these.
  void unindent();

  std::string render();

private:
  enum class Kind {
    Text,
    MayBreak,
    Newline,
    BlankLine,
    Suffix,
    Begin,
    End,
    Indent,
    BlockBase,
    BlockIndent,
    Unindent
  };
  struct Item {
    Kind kind;
    llvm::StringRef text = {};
    unsigned value = 0;
  };
  struct Line {
    std::string code;
    std::string comment;
  };
  struct Group {
    bool flat = true;
    bool consistent = false;
  };

  bool fits(size_t from) const;
  unsigned lineIndentation() const;
  void endLine();
  void write(llvm::StringRef text);
  void alignComments();

  unsigned maxWidth;
  std::vector<Item> items;
  std::vector<Line> lines;
  Line current;
  unsigned column = 0;
  unsigned indentation = 0;
  /// The indentation of the current line, if it is determined before the line has text.
  std::optional<unsigned> lineStart;
};

} // namespace tfc::text
