// Writes layer.tfg: y = relu(x w + b), with w in the data section of the file.
#include "Graph_generated.h"
#include <cstdio>
#include <vector>

using namespace tfg;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The types of the graph, by number.
enum { kX, kW, kB, kY };
static const float kWeights[3][2] = {{1, -1}, {2, 0}, {0, 3}};
static const float kBias[2] = {0.5f, -0.5f};

static Offset<Type> makeType(FlatBufferBuilder &builder, std::vector<Offset<Size>> sizes) {
  return CreateTypeDirect(builder, TypeKind::Tensor, "f32", &sizes);
}

static Offset<Size> number(FlatBufferBuilder &builder, int64_t value) {
  return CreateSizeDirect(builder, value);
}

static Offset<Size> name(FlatBufferBuilder &builder, const char *formula) {
  return CreateSizeDirect(builder, 0, formula);
}

static Offset<Declaration> makeVariable(FlatBufferBuilder &builder, const char *name, uint32_t type,
                                        Offset<Constant> initial) {
  auto variable = CreateVariableDirect(builder, name, type, false, nullptr, initial);
  return CreateDeclaration(builder, Declared::Variable, variable.Union());
}

static Offset<Node> makeNode(FlatBufferBuilder &builder, const char *operation,
                             std::vector<uint32_t> operands, std::vector<uint32_t> results) {
  return CreateNodeDirect(builder, operation, &operands, &results);
}

static Offset<Node> makeRead(FlatBufferBuilder &builder, const char *variable, uint32_t result) {
  auto symbol = CreateSymbolValueDirect(builder, variable);
  std::vector<Offset<Attribute>> attributes = {
      CreateAttributeDirect(builder, "variable", AttributeValue::SymbolValue, symbol.Union())};
  std::vector<uint32_t> results = {result};
  return CreateNodeDirect(builder, "read", nullptr, &results, &attributes);
}

static Offset<Entry> makeEntry(FlatBufferBuilder &builder) {
  // Values are numbers too; this lists their types.
  std::vector<uint32_t> values = {kX, kW, kB, kY, kY, kY};
  std::vector<Offset<NamedSize>> sizes = {CreateNamedSizeDirect(builder, "n", 256)};
  std::vector<Offset<Argument>> feeds = {CreateArgumentDirect(builder, 0, "x")};
  std::vector<Offset<Fetch>> fetches = {CreateFetchDirect(builder, "y")};
  std::vector<Offset<Node>> nodes = {
      makeRead(builder, "w", 1),
      makeRead(builder, "b", 2),
      makeNode(builder, "matmul", {0, 1}, {3}),
      makeNode(builder, "add", {3, 2}, {4}),
      makeNode(builder, "relu", {4}, {5}),
      makeNode(builder, "return", {5}, {}),
  };
  return CreateEntryDirect(builder, "infer", "A layer.", false, &values, &sizes, nullptr, &feeds,
                           &fetches, &nodes);
}

int main() {
  FlatBufferBuilder builder;
  std::vector<Offset<Type>> types = {
      makeType(builder, {name(builder, "n"), number(builder, 3)}),
      makeType(builder, {number(builder, 3), number(builder, 2)}),
      makeType(builder, {number(builder, 2)}),
      makeType(builder, {name(builder, "n"), number(builder, 2)}),
  };

  // The bias is in the FlatBuffer, the weights are at the beginning of the section after it.
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(kBias);
  std::vector<uint8_t> bias(bytes, bytes + sizeof(kBias));
  auto w = CreateConstantDirect(builder, kW, nullptr, false, 0, sizeof(kWeights));
  auto b = CreateConstantDirect(builder, kB, &bias);
  std::vector<Offset<Declaration>> declarations = {makeVariable(builder, "w", kW, w),
                                                   makeVariable(builder, "b", kB, b)};

  std::vector<Offset<Entry>> entries = {makeEntry(builder)};
  auto graph = CreateGraphDirect(builder, /*edition=*/1, "layer", &types, nullptr, &declarations,
                                 &entries, sizeof(kWeights));
  FinishGraphBuffer(builder, graph);

  FILE *file = fopen("layer.tfg", "wb");
  if (!file)
    return 1;
  static const char kZeros[64] = {};
  size_t size = builder.GetSize();
  fwrite(builder.GetBufferPointer(), 1, size, file);
  fwrite(kZeros, 1, -size % 64, file); // the section begins at a multiple of 64
  fwrite(kWeights, 1, sizeof(kWeights), file);
  return fclose(file);
}
