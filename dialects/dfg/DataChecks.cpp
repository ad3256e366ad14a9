// Messages about data and sizes that make a call fail, and the conditions that operations share.

#include "dialects/dfg/DataChecks.h"

#include "dialects/dfg/Facts.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/NodeName.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kNumber = "%lld";

std::string escapeFormat(StringRef text) {
  std::string result;
  for (char c : text)
    result.append(c == '%' ? 2 : 1, c == '\0' ? '?' : c);
  return result;
}

std::optional<size_t> countFormatValues(StringRef format) {
  size_t count = 0;
  while (true) {
    format = format.drop_until([](char c) { return c == '%' || c == '\0'; });
    if (format.empty())
      return count;
    if (format.consume_front(kNumber))
      ++count;
    else if (!format.consume_front("%%"))
      return std::nullopt;
  }
}

std::string fillFormat(StringRef format, ArrayRef<int64_t> values) {
  std::string text;
  while (!format.empty()) {
    StringRef plain = format.take_until([](char c) { return c == '%'; });
    text += plain;
    format = format.drop_front(plain.size());
    if (format.consume_front(kNumber)) {
      text += std::to_string(values.front());
      values = values.drop_front();
    } else if (!format.empty()) {
      text += '%';
      format = format.drop_front(format.starts_with("%%") ? 2 : 1);
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

namespace {
/// A line, and what it calls if a name for that is known.
struct Site {
  FileLineColRange line;
  StringRef name;
};
} // namespace

/// Collects the lines in a location, innermost first.
static void collectSites(Location location, SmallVectorImpl<Site> &sites) {
  if (auto named = dyn_cast<NameLoc>(location))
    return collectSites(named.getChildLoc(), sites);
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    size_t first = sites.size();
    if (!fused.getLocations().empty())
      collectSites(fused.getLocations().front(), sites);
    if (auto name = dyn_cast_or_null<StringAttr>(fused.getMetadata()); name && sites.size() > first)
      sites[first].name = name.getValue();
    return;
  }
  // A chain of calls may be long.
  while (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectSites(call.getCallee(), sites);
    location = call.getCaller();
  }
  if (auto line = dyn_cast<FileLineColRange>(location))
    sites.push_back({line, {}});
  else if (isa<NameLoc, FusedLoc>(location))
    collectSites(location, sites);
}

/// The innermost line in a file of the author's; otherwise the innermost one, if there is one.
static std::optional<Site> findSite(Location location) {
  SmallVector<Site> sites;
  collectSites(location, sites);
  auto *site = llvm::find_if(sites, [](Site site) {
    return !site.line.getFilename().getValue().starts_with(kLibraryFolder);
  });
  if (site != sites.end())
    return *site;
  return sites.empty() ? std::nullopt : std::optional(sites.front());
}

static std::string textOf(Site site, Location location) {
  StringRef node = nodeOf(location);
  if (site.line.getStartLine() == 0)
    return node.empty() ? "" : ("node " + node).str();
  return (llvm::sys::path::filename(site.line.getFilename().getValue()) + ":" +
          Twine(site.line.getStartLine()))
      .str();
}

std::string siteOf(Location location) {
  std::optional<Site> site = findSite(location);
  return site ? textOf(*site, location) : "";
}

static std::string phrase(std::string site) { return site.empty() ? site : " at " + site; }

std::string sitePhrase(Location location) { return phrase(siteOf(location)); }

Location nameSite(Location location, StringRef name) {
  if (auto node = dyn_cast<NameLoc>(location))
    return NameLoc::get(node.getName(), nameSite(node.getChildLoc(), name));
  MLIRContext *context = location.getContext();
  return FusedLoc::get({location}, StringAttr::get(context, name), context);
}

std::string subjectOf(Operation *op) {
  std::optional<Site> site = findSite(op->getLoc());
  StringRef name = site && !site->name.empty() ? site->name : op->getName().stripDialect();
  return ("'" + name + "'").str() + phrase(site ? textOf(*site, op->getLoc()) : "");
}

//===----------------------------------------------------------------------===//
// Message
//===----------------------------------------------------------------------===//

Message &Message::text(const Twine &text) {
  format += escapeFormat(text.str());
  return *this;
}

Message &Message::number(Value scalar) {
  format += kNumber;
  values.push_back(scalar);
  return *this;
}

Message &Message::valueOf(const DimExpr &size) {
  if (std::optional<int64_t> constant = size.constant())
    return text(Twine(*constant));
  return number(sizeAs(b, loc, size, b.getI64Type()));
}

Message &Message::about(const Twine &subject) {
  format = escapeFormat((subject + " ").str()) + format;
  return *this;
}

Message &Message::namesIn(ArrayRef<DimExpr> sizes) {
  SmallVector<std::string> names;
  for (const DimExpr &size : sizes)
    size.collectSymbols(names);
  bool isFirst = true;
  for (StringRef name : names) {
    if (values.size() == kMaxMessageValues)
      break;
    text((isFirst ? ": " : ", ") + name + " is ");
    valueOf(DimExpr::symbol(name));
    isFirst = false;
  }
  return *this;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static Value conjunction(OpBuilder &b, Location loc, Value condition, Value other) {
  return condition ? LogicalAndOp::create(b, loc, condition, other).getResult() : other;
}

/// The index that is largest as an unsigned number, which no negative index exceeds; 0 if there are
/// none. One reduction finds it, because adding the smallest number maps the order of unsigned
/// numbers to that of signed ones.
static Value largestUnsigned(OpBuilder &b, Location loc, Value indices) {
  if (shapeOf(indices.getType()).empty())
    return indices;
  Term i(b, loc, indices);
  double least = i.getDtype().isInteger(32) ? double(INT32_MIN) : double(INT64_MIN);
  return call<MaxOp>(i + least, DenseI64ArrayAttr(), b.getBoolAttr(false)) + least;
}

DataCheck buildIndexCheck(OpBuilder &b, Location loc, ArrayRef<IndexRange> ranges, StringRef what,
                          Type table) {
  Type i64 = b.getI64Type();
  auto wide = [&](Value x) {
    return Term(b, loc, elementTypeOf(x.getType()) == i64 ? x : CastOp::create(b, loc, x, i64));
  };
  bool isOne = ranges.size() == 1;
  Value holds, wrong, axis, limit;
  for (const IndexRange &range : llvm::reverse(ranges)) {
    Term index = wide(largestUnsigned(b, loc, range.indices));
    Term size = index.with(sizeAs(b, loc, range.size, i64));
    Value inside =
        call<LogicalAndOp>(call<GreaterEqualOp>(index, index.number(0)), less(index, size));
    DimExpr count = elementCount(shapeOf(range.indices.getType()));
    if (isNonNegative(count - 1) != true && isNonNegative(range.size - 1) != true) {
      Term none = call<EqualOp>(index.with(sizeAs(b, loc, count, i64)), index.number(0));
      inside = call<LogicalOrOp>(none, inside);
    }
    holds = conjunction(b, loc, holds, inside);
    auto choose = [&](Value own, Value other) {
      return other ? Value(SelectOp::create(b, loc, inside, other, own)) : own;
    };
    if (!isOne) {
      axis = choose(index.number(range.axis), axis);
      limit = choose(size, limit);
    }
    wrong = choose(index, wrong);
  }
  Message message(b, loc);
  message.text("got " + what + " ").number(wrong);
  if (!table)
    return {holds, message.text(", but expects 0 to ").valueOf(ranges[0].size - 1)};
  message.text(" of axis ");
  if (isOne)
    message.text(Twine(ranges[0].axis) + " of " + toText(table));
  else
    message.number(axis).text(" of " + toText(table));
  if (!isOne)
    message.text(", whose size is ").number(limit);
  else if (!ranges[0].size.constant())
    message.text(", whose size is ").valueOf(ranges[0].size);
  return {holds, message};
}

std::optional<DataCheck> buildDataCheck(OpBuilder &b, CheckedOpInterface op) {
  std::optional<DataCheck> check = op.buildCheck(b);
  if (check)
    check->message.about(check->subject.empty() ? subjectOf(op)
                                                : check->subject + sitePhrase(op.getLoc()));
  return check;
}

Value buildNonNegative(OpBuilder &b, Operation *op, ArrayRef<DimExpr> sizes) {
  Value holds;
  for (const DimExpr &size : sizes) {
    if (isNonNegativeAt(op, size))
      continue;
    Term number(b, op->getLoc(), sizeAs(b, op->getLoc(), size, b.getI64Type()));
    holds = conjunction(b, op->getLoc(), holds, call<GreaterEqualOp>(number, number.number(0.0)));
  }
  return holds;
}

std::optional<DataCheck> buildSizeCheck(OpBuilder &b, Operation *op, ArrayRef<DimExpr> sizes,
                                        const Twine &text) {
  Value holds = buildNonNegative(b, op, sizes);
  if (!holds)
    return std::nullopt;
  Message message(b, op->getLoc());
  message.text(text).namesIn(sizes);
  return DataCheck{holds, message};
}

} // namespace tfc::dfg
