// Declares functions of the runtime, and creates the texts and the stack memory that are passed to
// them.

#include "compiler/host/RuntimeSymbols.h"

using namespace mlir;
using namespace tfc::host;

LLVM::LLVMFuncOp RuntimeSymbols::function(Operation *user, StringRef name,
                                          LLVM::LLVMFunctionType type) {
  Operation *known = symbols.lookup(name);
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(known);
  if (!known) {
    OpBuilder b = end();
    function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
    symbols.insert(function);
  } else if (!function || !function.isExternal() || function.getFunctionType() != type) {
    InFlightDiagnostic error = user->emitOpError("expects '@") << name << "' to be the runtime's";
    error.attachNote(known->getLoc()) << "the module has another symbol of this name";
    return {};
  }
  return function;
}

LLVM::GlobalOp RuntimeSymbols::text(StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    OpBuilder b = end();
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    std::string name = "tfc_text_" + std::to_string(texts.size() - 1);
    global = LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, b.getStringAttr(bytes));
    symbols.insert(global);
  }
  return global;
}

Value StackArray::get(LLVM::LLVMFuncOp function, unsigned count) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  if (!array) {
    Value one = LLVM::ConstantOp::create(b, function.getLoc(), b.getI32IntegerAttr(1));
    array = LLVM::AllocaOp::create(b, function.getLoc(), LLVM::LLVMPointerType::get(b.getContext()),
                                   LLVM::LLVMArrayType::get(b.getI64Type(), 0), one);
  }
  size = std::max(size, count);
  array.setElemType(LLVM::LLVMArrayType::get(b.getI64Type(), size));
  return array;
}
