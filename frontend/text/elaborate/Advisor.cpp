// Adds hints to errors: what the author may have meant, and where names are declared.
#include "frontend/text/elaborate/Advisor.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Library.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/syntax/Lexer.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns true if an argument of a part was more likely intended for its function `call`.
static bool isData(const ast::Arg &arg) {
  return arg.label.text.empty() &&
         !isa<ast::IntExpr, ast::FloatExpr, ast::StringExpr, ast::BoolExpr>(arg.value);
}

/// A call of a part creates state without a name.
Entity Advisor::failUnnamed(const Part &part, const ast::CallExpr &call) {
  std::string state;
  for (const ast::Stmt *member : part.decl->members)
    if (const auto *var = dyn_cast<ast::VarDecl>(member))
      state += (state.empty() ? "" : ", ") + var->name.text.str();
  StringRef name = part.decl->name.text;
  bool hasData = !call.args.empty() && isData(call.args[0]);
  std::string args, data = hasData ? context.sources.oneLine(call.args[0].range) : "...";
  for (const ast::Arg &arg : ArrayRef(call.args).drop_front(hasData))
    args += (args.empty() ? "" : ", ") + context.sources.oneLine(arg.range);
  std::string initial;
  for (unsigned i = 1; initial.empty() || evaluator.lookup(initial, call.range); ++i)
    initial = name.substr(0, 1).lower() + std::to_string(i);
  reporter
      .error(call.callee->range, "unnamed-state", "'{}' is a part{}, and a call cannot create {}",
             name, state.empty() ? std::string() : " with variables of its own (" + state + ")",
             state.empty() ? "an instance" : "them")
      .help("name an instance at file level, 'let {} = {}({})', and call that: '{}({})'", initial,
            name, args, initial, data);
  return Poison();
}

void Advisor::addDeclarationNote(Diagnostic &diagnostic, const ast::Expr *expr,
                                 const Entity &value) {
  const auto *name = dyn_cast_or_null<ast::NameExpr>(expr);
  if (!name)
    return;
  std::optional<Entity> declared = evaluator.lookupDeclared(name->name, name->range);
  if (!declared)
    return;
  if (Variable *const *variable = declared->get<Variable *>()) {
    if ((*variable)->decl)
      diagnostic.note((*variable)->decl->name.range,
                      fmt::format("'{}' is declared here as ", name->name) +
                          dfg::toText((*variable)->type));
    return;
  }
  if (const Local *local = context.activation->find(name->name);
      local && local->type && value.isTensor())
    diagnostic.note(local->at,
                    fmt::format("'{}' is declared here as ", name->name) + value.describe());
}

Entity Advisor::laterWork(SourceRange at, StringRef what) {
  return reporter.fail(
      at, "not-yet", "{} is part of the language, but this version of tfc cannot compile it", what);
}

void Advisor::hintResults(Diagnostic &diagnostic, const Group &results, SourceRange at) {
  StringRef call = context.sources.text(at);
  bool isShort = call.size() < 40 && !call.contains('\n');
  diagnostic.help("bind them, '{} = ..', or take one: {}.{}", join(results.names, ", "),
                  isShort ? call.str() : "r", results.names.front());
}

bool Advisor::hintEnded(Diagnostic &diagnostic, StringRef name) {
  auto it = context.activation ? context.activation->ended.find(name)
                               : decltype(context.activation->ended.end())();
  if (!context.activation || it == context.activation->ended.end())
    return false;
  auto [at, keyword] = it->second;
  diagnostic.note(at, "bound here, in a block that has ended");
  if (keyword == "if")
    diagnostic.help("both branches yield it: {} = if .. {{ yield .. }} else {{ yield .. }}", name);
  else
    diagnostic.help("the block yields it: {} = {} .. {{ yield .. }}", name, keyword);
  return true;
}

/// A comment of one word is a divisor.
bool Advisor::hintComment(Diagnostic &diagnostic, SourceRange at) {
  bool isDivisor =
      at.isValid() && context.sources.text(at.file).take_front(at.begin).rtrim(' ').ends_with("//");
  if (isDivisor)
    diagnostic.help(kCommentHelp);
  return isDivisor;
}

bool Advisor::hintForeign(Diagnostic &diagnostic, StringRef name) {
  std::string lower = name.lower();
  StringRef help =
      StringSwitch<StringRef>(lower)
          .Cases({"permute", "swapaxes", "moveaxis"}, "transpose(x, [0, 2, 1]) permutes the axes")
          .Cases({"unsqueeze", "expand_dims", "none", "newaxis"},
                 "expand(x, axis: 1) inserts an axis of size 1")
          .Cases({"infinity", "infty"}, "infinity is written 'inf'")
          .Cases({"self", "this"},
                 "the functions of a part name its variables as they are declared")
          .Cases({"range", "xrange", "arange"}, "loops run over 0..n; iota(n) is a tensor")
          .Cases({"masked_fill", "ifelse"}, "select(condition, x, y) chooses")
          .Cases({"view", "ravel"}, "reshape(x, [n, -1]) changes the shape")
          .Cases({"bmm", "mm", "mv"}, "a product of matrices is matmul(x, y)")
          .Cases({"flip", "fliplr"}, "reverse(x, axis: [0]) reverses an axis")
          .Cases({"random", "rand"}, "uniform() and normal() are initial values; "
                                     "random_uniform(f32[n]) draws in an entry")
          .Cases({"randn", "gaussian"}, "random_normal(f32[n]) draws normally distributed numbers")
          .Case("print", "an entry cannot print; return the value to see it")
          .Case("chunk", "split(x, 2, axis: 1) returns parts of equal size")
          .Case("detach", "stop_gradient(x) is x, held constant")
          .Case("clip", "clamp(x, low, high) limits")
          .Case("cat", "concat([x, y], axis: 1) joins")
          .Cases({"index_select", "embedding_lookup"},
                 "gather(x, i, axis: 0) takes rows by their indices")
          .Cases({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"},
                 "i8, i16, i32, i64, u8, u16, u32 and u64 are the types of integers")
          .Cases({"float16", "bfloat16", "float32", "float64", "double"},
                 "f16, bf16, f32 and f64 are the types of floating-point numbers")
          .Default("");
  if (!help.empty())
    diagnostic.help(help);
  return !help.empty();
}

/// `x.sum()` is `sum(x)` here.
void Advisor::hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr) {
  StringRef name = expr.member.text, object = context.sources.text(expr.base->range);
  std::optional<Entity> meant = evaluator.lookup(name, expr.range);
  bool isCallable = meant && (meant->is<Function>() || meant->is<Builtin>() || meant->is<All>() ||
                              meant->is<const dfg::OpSignature *>());
  if (name == "T")
    diagnostic.help("operations are functions: transpose({})", object);
  else if (name == "astype" || name == "to" || name == "float")
    diagnostic.help("cast({}, f32) and f32({}) convert", object, object);
  else if (isCallable && object.size() < 40)
    diagnostic.help("operations are functions: {}({})", name, object);
}

void Advisor::hintLibrary(Diagnostic &diagnostic, StringRef name) {
  for (StringRef file : libraryNames())
    for (StringRef keyword : {"\npart ", "\nfn "})
      if (librarySource(file)->contains(fmt::format("{}{}(", keyword, name)) && file != "prelude" &&
          !name.starts_with("_"))
        diagnostic.help("'use {}: {}' makes it available", file, name);
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::vector<StringRef> Advisor::visibleNames() {
  std::vector<StringRef> names;
  auto addAll = [&](const auto &table) {
    for (const auto &entry : table)
      names.push_back(entry.getKey());
  };
  if (context.activation) {
    addAll(context.activation->locals);
    if (context.activation->self) {
      addAll(context.activation->self->members);
      addAll(context.activation->self->params);
    }
    if (context.activation->module)
      addAll(context.activation->module->declarations);
  }
  if (context.program.prelude)
    addAll(context.program.prelude->declarations);
  llvm::append_range(names, context.program.builtins);
  for (const dfg::OpSignature &op : dfg::allOps())
    names.push_back(op.name);
  append_range(names, ArrayRef<StringRef>{"false", "inf", "nan", "true"});
  sort(names);
  return names;
}

Entity Advisor::unknownName(StringRef name, SourceRange at) {
  Diagnostic &diagnostic = reporter.error(at, "unknown-name", "nothing is named '{}' here", name);
  if (hintComment(diagnostic, at))
    return Poison();
  if (!hintEnded(diagnostic, name) && !hintForeign(diagnostic, name)) {
    reporter.suggest(diagnostic, name, visibleNames());
    hintLibrary(diagnostic, name);
  }
  return Poison();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Notes where the sizes of an error are bound.
void Advisor::noteRunTimeSizes(Diagnostic &diagnostic, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (const RunTimeSize *size = context.entry.runTimeSizes.find(name))
      diagnostic.note(size->at, "'{}', at most {}, is computed when the entry runs, here", name,
                      size->bound.str());
}

} // namespace tfc::text
