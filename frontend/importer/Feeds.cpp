// Feeds whose sizes the graph leaves open get the sizes that the caller specifies.

#include "frontend/importer/Feeds.h"

#include "frontend/Fmt.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

/// Returns the name for an unknown size: the graph's name, or "n" for the first axis, which is
/// usually the batch, or the feed's name and the axis.
static std::string symbolName(const PartialShape &shape, size_t axis, StringRef feed) {
  std::string name = axis < shape.names.size() ? shape.names[axis] : "";
  if (name.empty())
    name = axis == 0 ? "n" : fmt::format("{}_{}", feed, axis);
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  return isAlpha(name.front()) ? name : "d_" + name;
}

static void addSymbols(EntryHeader &header, const dfg::DimExpr &size) {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  for (const std::string &name : names)
    if (!is_contained(header.symbols, name))
      header.symbols.push_back(name);
}

/// Returns the sizes that the graph specifies.
static dfg::Shape graphShape(const GraphInput &input) {
  dfg::Shape shape;
  for (auto [axis, size] : enumerate(input.shape->sizes))
    shape.push_back(size >= 0 ? dfg::DimExpr(size)
                              : dfg::DimExpr::symbol(symbolName(*input.shape, axis, input.name)));
  return shape;
}

/// Returns the sizes that the caller specifies, or std::nullopt after an error.
static std::optional<dfg::Shape> callerShape(const FeedSpec &feed, const GraphInput &input,
                                             Diagnostics &diagnostics) {
  dfg::Shape shape;
  for (const std::string &text : *feed.sizes) {
    std::optional<dfg::DimExpr> size = dfg::DimExpr::parse(text);
    if (!size) {
      diagnostics.error(input.location) << "'" << text << "' is not a size [graph-entry]";
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  if (!input.shape)
    return shape;
  ArrayRef<int64_t> known = input.shape->sizes;
  if (known.size() != shape.size()) {
    diagnostics.error(input.location) << "expected a feed of " << known.size() << " axes, but got "
                                      << shape.size() << " [graph-entry]";
    return std::nullopt;
  }
  for (auto [axis, size] : enumerate(known))
    if (size >= 0 && shape[axis] != dfg::DimExpr(size)) {
      diagnostics.error(input.location)
          << "expected a feed with size " << size << " along axis " << axis << ", but got "
          << shape[axis].str() << " [graph-entry]";
      return std::nullopt;
    }
  return shape;
}

RankedTensorType feedType(const FeedSpec *feed, const GraphInput &input, EntryHeader &header,
                          Diagnostics &diagnostics) {
  bool isSized = feed && feed->sizes;
  if (!isSized && !input.shape) {
    InFlightDiagnostic error = diagnostics.error(input.location);
    error << "the graph does not specify how many axes the feed has";
    if (feed && feed->name.empty())
      error << ": expected its sizes in brackets, as in " << input.name << "[n, 64]";
    else if (feed)
      error << ": expected them, as in --shape '" << feed->name << "=[n, 64]'";
    error << " [graph-entry]";
    return {};
  }
  std::optional<dfg::Shape> shape =
      isSized ? callerShape(*feed, input, diagnostics) : graphShape(input);
  if (!shape)
    return {};
  for (const dfg::DimExpr &size : *shape)
    addSymbols(header, size);
  return dfg::tensorOf(*shape, input.elementType);
}

std::optional<dfg::SizeTensor> fedSizes(const FeedSpec &feed, RankedTensorType type) {
  if (!feed.numbers || !isa<IntegerType>(type.getElementType()) || !type.hasStaticShape())
    return std::nullopt;
  return dfg::makeSizes(type.getElementType(), type.getShape(),
                        {feed.numbers->begin(), feed.numbers->end()});
}

ElementsAttr fedReals(const FeedSpec &feed, RankedTensorType type) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!feed.reals || !element || !type.hasStaticShape() ||
      type.getNumElements() != int64_t(feed.reals->size()))
    return {};
  SmallVector<Attribute> elements;
  for (double number : *feed.reals)
    elements.push_back(FloatAttr::get(element, number));
  return DenseElementsAttr::get(RankedTensorType::get(type.getShape(), element), elements);
}

} // namespace tfc::importer
