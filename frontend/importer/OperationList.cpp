// Describes rules by their signatures, and functions in graph source by their parameters.

#include "frontend/importer/OperationList.h"
#include "frontend/Fmt.h"
#include "frontend/GraphBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

using namespace llvm;

namespace tfc::importer {

using Kind = text::LibraryCalls::Kind;
using Parameter = text::LibraryCalls::Parameter;

void OperationList::addRule(StringRef file, StringRef op, int64_t since, const Signature &signature,
                            StringRef argument, StringRef limits) {
  json::Array attrs;
  for (const AttrRule &attr : ArrayRef(signature.attrs).take_front(signature.attrCount))
    attrs.push_back(StringRef(attr.name.data(), attr.name.size()));
  operations.push_back(json::Object{{"op", op.str()},
                                    {"file", file},
                                    {"since", since},
                                    {"inputs", toText(signature.inputs)},
                                    {"outputs", toText(signature.outputs)},
                                    {"attributes", std::move(attrs)},
                                    {"argument", argument},
                                    {"limits", limits}});
}

void OperationList::addFunction(StringRef file, StringRef op, ArrayRef<Parameter> parameters) {
  Arity inputs;
  json::Array attrs;
  for (const Parameter &parameter : parameters) {
    inputs.isVariadic |= parameter.kind == Kind::Tensors;
    if (parameter.kind == Kind::Tensor) {
      inputs.least += !parameter.hasDefault;
      ++inputs.most;
    } else if (parameter.kind != Kind::Tensors) {
      attrs.push_back(parameter.name.str());
    }
  }
  operations.push_back(json::Object{{"op", op.str()},
                                    {"file", (file + ".graph").str()},
                                    {"inputs", toText(inputs)},
                                    {"attributes", std::move(attrs)}});
}

void OperationList::addFunctions(mlir::MLIRContext &context, ArrayRef<StringRef> files) {
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls library(builder, files);
  for (const auto &[file, op] : library.functions())
    addFunction(file, op, library.parameters(op));
}

} // namespace tfc::importer
