/// Lays text out in lines: the formatter says where a line may end, this decides where it does.
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
  /// A place where the line may end; else `flat` stands there.
  void mayBreak(llvm::StringRef flat);
  /// The end of a line.
  void newline();
  void blankLine();
  /// A comment behind everything else on the current line.
  void suffix(llvm::StringRef comment);

  /// What lies in a group stays on one line if it fits. If not, its lines are filled, or, where
  /// it is `consistent`, end at every place where they may.
  void beginGroup(bool consistent = false);
  void endGroup();

  /// Lines that begin before the matching unindent() stand `columns` to the right of the line that
  /// indent() is on.
  void indent(unsigned columns);
  /// The same for the lines of a block, up to behind its end: they stand below the beginning of the
  /// line, or of the statement where that line goes on from others.
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
  /// Where the current line begins, if that is settled before it has text.
  std::optional<unsigned> lineStart;
};

} // namespace tfc::text
