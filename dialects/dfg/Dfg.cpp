//===- Dfg.cpp - The dfg dialect and its attributes -----------------------===//
//
// Registers the dialect and implements its attributes. The operations are in the files of their
// families.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Families.h.inc"
#include "dialects/dfg/SizeComplexity.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc::dfg;

#include "dialects/dfg/DfgDialect.cpp.inc"
#include "dialects/dfg/DfgEnums.cpp.inc"
#include "dialects/dfg/DfgInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dfg/DfgAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/dfg/DfgTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/dfg/DfgOps.cpp.inc"

void DfgDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dfg/DfgAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/dfg/DfgTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/dfg/DfgOps.cpp.inc"
      >();
#include "dialects/dfg/Families.cpp.inc"
}

Operation *DfgDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

//===----------------------------------------------------------------------===//
// DimsAttr
//===----------------------------------------------------------------------===//

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<DimExpr> sizes) {
  SmallVector<StringAttr> texts;
  for (const DimExpr &size : sizes)
    texts.push_back(StringAttr::get(context, size.canonical()));
  return get(context, texts);
}

SmallVector<DimExpr> DimsAttr::getExprs() const {
  SmallVector<DimExpr> exprs;
  for (StringAttr size : getSizes()) {
    std::optional<DimExpr> expr = DimExpr::parse(size.getValue());
    exprs.push_back(expr ? std::move(*expr) : DimExpr::symbol("?"));
  }
  return exprs;
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> sizes) {
  for (StringAttr size : sizes) {
    std::optional<DimExpr> expr = DimExpr::parse(size.getValue());
    if (!expr)
      return emitError() << "expected a size, but got '" << size.getValue() << "'";
    if (expr->canonical() != size.getValue())
      return emitError() << "expected the canonical form '" << expr->canonical() << "', but got '"
                         << size.getValue() << "'";
  }
  if (isTooComplex(sizes))
    return emitError() << "the formulas of these sizes are too large [too-large]";
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getSizes().size())
    return emitError() << "expected one named size per axis, but got " << getSizes().size()
                       << " for rank " << shape.size();
  for (auto [size, expr] : llvm::zip(shape, getExprs()))
    if (expr.constant().value_or(ShapedType::kDynamic) != size)
      return emitError() << "expected the encoding to agree with the shape, but '" << expr.str()
                         << "' names " << (ShapedType::isDynamic(size) ? "a dynamic" : "a static")
                         << " size";
  return success();
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimExpr> sizes;
  auto parseSize = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    int64_t value;
    std::string text;
    StringRef keyword;
    if (OptionalParseResult result = parser.parseOptionalInteger(value); result.has_value()) {
      sizes.push_back(DimExpr(value));
      return *result;
    }
    if (succeeded(parser.parseOptionalString(&text)))
      keyword = text;
    else if (failed(parser.parseOptionalKeyword(&keyword)))
      return parser.emitError(location, "expected an integer, a name or an expression in quotes");
    std::optional<DimExpr> expr = DimExpr::parse(keyword);
    if (!expr)
      return parser.emitError(location) << "expected a size, but got '" << keyword << "'";
    sizes.push_back(*expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseSize))
    return {};
  return get(parser.getContext(), sizes);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getSizes(), printer, [&](StringAttr size) {
    StringRef text = size.getValue();
    bool isPlain =
        llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
    if (isPlain)
      printer << text;
    else
      printer << '"' << text << '"';
  });
  printer << '>';
}
