// Collects diagnostics and prints them with the marked source lines.
#include "frontend/text/syntax/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace llvm;

namespace tfc::text {

/// For longer lines only the part around the location is shown.
static constexpr size_t kMaxExcerpt = 160;

/// Further diagnostics are only counted.
static constexpr size_t kMaxPrinted = 500;

/// Further diagnostics are dropped, to limit memory.
static constexpr size_t kMaxKept = 10'000;

Diagnostic &Diagnostic::also(SourceRange range) {
  others.push_back(range);
  return *this;
}

Diagnostic &Diagnostic::note(SourceRange place, const Twine &sentence) {
  notes.push_back({place, sentence.str()});
  return *this;
}

Diagnostic &Diagnostic::call(SourceRange place, const Twine &sentence) {
  calls.push_back({place, sentence.str()});
  return *this;
}

Diagnostic &Diagnostic::forAllSizes(bool isFor) {
  isForAllSizes = isFor;
  return *this;
}

Diagnostic &Diagnostic::help(const Twine &sentence) {
  helpText = sentence.str();
  return *this;
}

Diagnostic &Diagnostic::elseHelp(const Twine &sentence) {
  return helpText.empty() ? help(sentence) : *this;
}

std::string takeSlug(std::string &text) {
  StringRef view = text;
  size_t open = view.rfind(" [");
  if (!view.ends_with("]") || open == StringRef::npos)
    return {};
  StringRef slug = view.drop_back().substr(open + 2);
  // A type such as "f32[4]" or a list of shapes is not a slug.
  auto isPart = [](char c) { return isLower(c) || c == '-'; };
  if (slug.empty() || !isLower(slug.front()) || !all_of(slug, isPart))
    return {};
  std::string result = slug.str();
  text.resize(open);
  return result;
}

Diagnostic &DiagnosticEngine::error(SourceRange at, StringRef slug, const Twine &text) {
  ++errors;
  bool isKept = diagnostics.size() < kMaxKept;
  dropped += !isKept;
  if (isKept)
    diagnostics.emplace_back();
  else
    discarded = Diagnostic();
  Diagnostic &diagnostic = last();
  diagnostic.at = at;
  diagnostic.slug = slug.str();
  diagnostic.text = text.str();
  return diagnostic;
}

Diagnostic &DiagnosticEngine::warning(SourceRange at, StringRef slug, const Twine &text) {
  Diagnostic &diagnostic = error(at, slug, text);
  --errors;
  diagnostic.severity = Severity::Warning;
  return diagnostic;
}

std::vector<Diagnostic> DiagnosticEngine::takeBack(size_t size) {
  std::vector<Diagnostic> taken(std::make_move_iterator(diagnostics.begin() + size),
                                std::make_move_iterator(diagnostics.end()));
  diagnostics.resize(size);
  for (const Diagnostic &diagnostic : taken)
    errors -= diagnostic.severity == Severity::Error;
  errors -= dropped;
  dropped = 0;
  return taken;
}

void DiagnosticEngine::add(Diagnostic diagnostic) {
  errors += diagnostic.severity == Severity::Error;
  diagnostics.push_back(std::move(diagnostic));
}

static bool samePrimary(const Diagnostic *a, const Diagnostic *b) {
  return a->at == b->at && a->foreignPlace == b->foreignPlace && a->text == b->text &&
         a->severity == b->severity;
}

void DiagnosticEngine::flush(raw_ostream &os) {
  std::vector<const Diagnostic *> order;
  for (const Diagnostic &diagnostic : diagnostics)
    order.push_back(&diagnostic);
  llvm::sort(order, [](const Diagnostic *a, const Diagnostic *b) {
    return std::tie(a->at.file, a->at.begin, a->at.end, a->foreignPlace, a->text) <
           std::tie(b->at.file, b->at.begin, b->at.end, b->foreignPlace, b->text);
  });
  order.erase(llvm::unique(order, samePrimary), order.end());
  for (const Diagnostic *diagnostic : ArrayRef(order).take_front(kMaxPrinted))
    print(os, *diagnostic);
  if (order.size() + dropped > kMaxPrinted)
    os << "note: " << order.size() + dropped - kMaxPrinted << " more diagnostics are not shown\n";
  diagnostics.clear();
  dropped = 0;
}

void DiagnosticEngine::print(raw_ostream &os, const Diagnostic &diagnostic) const {
  printPlace(os, diagnostic.at, diagnostic.foreignPlace);
  os << (diagnostic.severity == Severity::Error ? "error: " : "warning: ") << diagnostic.text;
  if (!diagnostic.slug.empty())
    os << " [" << diagnostic.slug << ']';
  os << '\n';
  if (diagnostic.at.isValid())
    printExcerpt(os, diagnostic);
  for (const Diagnostic::Note &note :
       concat<const Diagnostic::Note>(diagnostic.notes, diagnostic.calls)) {
    printPlace(os, note.at, note.foreignPlace);
    os << "note: " << note.text << '\n';
  }
  if (!diagnostic.helpText.empty())
    os << "help: " << diagnostic.helpText << '\n';
}

void DiagnosticEngine::printPlace(raw_ostream &os, SourceRange at, StringRef foreignPlace) const {
  if (!at.isValid()) {
    os << foreignPlace;
    return;
  }
  LineColumn place = sources.lineColumn(at.file, at.begin);
  os << sources.name(at.file) << ':' << place.line << ':' << place.column << ": ";
}

/// The width of `text` on a terminal; unprintable text counts by bytes.
static unsigned width(StringRef text) {
  int columns = sys::unicode::columnWidthUTF8(text);
  return columns < 0 ? text.size() : columns;
}

namespace {

/// A source line with the marks below it, both byte for byte until they are printed.
struct MarkedLine {
  StringRef text;
  uint32_t begin;
  std::string marks;

  MarkedLine(StringRef text, uint32_t begin)
      : text(text), begin(begin), marks(text.size() + 1, ' ') {}

  bool holds(SourceRange range) const {
    return range.begin >= begin && range.begin <= begin + text.size();
  }

  void mark(SourceRange range, char first, char rest) {
    size_t from = range.begin - begin;
    size_t to = std::min<size_t>(std::max(range.end, range.begin + 1) - begin, marks.size());
    for (size_t i = from; i < to; ++i)
      marks[i] = i == from ? first : rest;
  }
};

} // namespace

/// Shortens a long line to the part around its primary mark, at character boundaries.
static void cutAround(StringRef &text, StringRef &marks, size_t place) {
  if (text.size() <= kMaxExcerpt)
    return;
  size_t from = place > kMaxExcerpt / 2 ? place - kMaxExcerpt / 2 : 0;
  while (from > 0 && (text[from] & 0xC0) == 0x80)
    --from;
  size_t to = std::min(from + kMaxExcerpt, text.size());
  while (to < text.size() && (text[to] & 0xC0) == 0x80)
    ++to;
  marks = marks.slice(from, to + 1);
  text = text.slice(from, to);
}

void DiagnosticEngine::printExcerpt(raw_ostream &os, const Diagnostic &diagnostic) const {
  FileId file = diagnostic.at.file;
  LineColumn place = sources.lineColumn(file, diagnostic.at.begin);
  StringRef text = sources.line(file, place.line);
  MarkedLine line(text, text.data() - sources.text(file).data());
  for (SourceRange other : diagnostic.others)
    if (other.file == file && line.holds(other))
      line.mark(other, '~', '~');
  SourceRange primary = diagnostic.at;
  primary.begin = std::min<uint32_t>(primary.begin, line.begin + text.size());
  line.mark(primary, '^', '~');

  StringRef marks = line.marks;
  cutAround(text, marks, primary.begin - line.begin);
  std::string below;
  for (size_t i = 0; i < marks.size();) {
    size_t next = i + 1;
    while (next < text.size() && (text[next] & 0xC0) == 0x80)
      ++next;
    bool tab = i < text.size() && text[i] == '\t';
    unsigned columns = tab || i >= text.size() ? 1 : width(text.slice(i, next));
    char rest = marks[i] == '^' ? '~' : marks[i];
    if (columns > 0) {
      below += tab && marks[i] == ' ' ? '\t' : marks[i];
      below.append(columns - 1, rest);
    }
    i = next;
  }
  os << text << '\n' << StringRef(below).rtrim() << '\n';
}

} // namespace tfc::text
