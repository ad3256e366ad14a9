//===- MutateProtobuf.cpp - Protocol buffers as trees of fields -----------===//
//
// The messages of the importers have no reflection (protobuf's lite runtime), so a file is read as
// what it is on the wire: fields by number. A schema says which of them hold messages.
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"
#include <vector>

using namespace llvm;

namespace tfc::fuzz {

namespace {

/// A kind of message, by its position in a schema; 0 for the outermost one.
using Message = unsigned;
constexpr Message kNoMessage = ~0u;

/// The message in a field of another.
struct Field {
  Message owner;
  unsigned number;
  Message held;
};

struct Schema {
  ArrayRef<Field> fields;
  Message node; // whose fields matter most

  Message heldBy(Message owner, unsigned number) const {
    for (const Field &field : fields)
      if (field.owner == owner && field.number == number)
        return field.held;
    return kNoMessage;
  }
};

struct Value {
  Message message = kNoMessage; // that `fields` are of
  unsigned number = 0, wireType = 0;
  uint64_t varint = 0;
  std::string bytes;
  std::vector<Value> fields;
};

} // namespace

static bool readVarint(StringRef &text, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    uint64_t byte = uint8_t(text.front());
    text = text.drop_front();
    value |= (byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

static bool parse(StringRef text, const Schema &schema, Message message,
                  std::vector<Value> &fields) {
  while (!text.empty()) {
    uint64_t tag;
    if (!readVarint(text, tag))
      return false;
    Value value;
    value.number = unsigned(tag >> 3);
    value.wireType = tag & 7;
    size_t fixed = value.wireType == 1 ? 8 : value.wireType == 5 ? 4 : 0;
    if (value.wireType == 0) {
      if (!readVarint(text, value.varint))
        return false;
    } else if (fixed && text.size() >= fixed) {
      value.bytes = text.take_front(fixed).str();
      text = text.drop_front(fixed);
    } else if (value.wireType == 2) {
      uint64_t length;
      if (!readVarint(text, length) || length > text.size())
        return false;
      value.bytes = text.take_front(length).str();
      text = text.drop_front(length);
      value.message = schema.heldBy(message, value.number);
      if (value.message != kNoMessage && !parse(value.bytes, schema, value.message, value.fields))
        value.message = kNoMessage;
    } else {
      return false;
    }
    fields.push_back(std::move(value));
  }
  return true;
}

static void writeVarint(std::string &out, uint64_t value) {
  for (; value > 127; value >>= 7)
    out += char((value & 127) | 128);
  out += char(value);
}

static std::string print(const std::vector<Value> &fields) {
  std::string out;
  for (const Value &value : fields) {
    writeVarint(out, uint64_t(value.number) << 3 | value.wireType);
    std::string bytes = value.message == kNoMessage ? value.bytes : print(value.fields);
    if (value.wireType == 0)
      writeVarint(out, value.varint);
    else if (value.wireType == 2)
      writeVarint(out, bytes.size());
    if (value.wireType != 0)
      out += bytes;
  }
  return out;
}

/// A position in a tree: a field and the list that contains it.
struct Place {
  std::vector<Value> *list;
  size_t index;
  Message owner;
  Value &value() const { return (*list)[index]; }
};

static void collect(std::vector<Value> &fields, Message owner, std::vector<Place> &places) {
  for (size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i, owner});
    collect(fields[i].fields, fields[i].message, places);
  }
}

static void changeNumber(Value &value, Draw &draw) {
  static constexpr int64_t kNumbers[] = {
      0, 1, -1, 2, 3, 7, 20, 99, 1LL << 31, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 40, 1LL << 62};
  value.varint = draw.chance(60) ? uint64_t(draw.of(kNumbers)) : value.varint + draw.below(5) - 2;
}

/// One of the places, mostly any. Few fields are those of nodes, but damage to them matters most.
static Place choosePlace(const std::vector<Place> &places, Message node, Draw &draw) {
  bool mustBeNode = draw.chance(30);
  Place place = places[draw.below(places.size())];
  for (unsigned tries = 0; mustBeNode && place.owner != node && tries < 100; ++tries)
    place = places[draw.below(places.size())];
  return place;
}

/// One change somewhere; `others` are fields of a file to take from, mostly the same one.
static void change(std::vector<Value> &file, const Schema &schema, const std::vector<Place> &others,
                   Draw &draw) {
  std::vector<Place> places;
  collect(file, 0, places);
  if (places.empty())
    return;
  Place place = choosePlace(places, schema.node, draw);
  Value &value = place.value();
  switch (draw.below(7)) {
  case 0:
    place.list->erase(place.list->begin() + place.index);
    return;
  case 1: {
    Value copy = value;
    place.list->insert(place.list->begin() + draw.below(place.list->size() + 1), std::move(copy));
    return;
  }
  case 2:
    if (value.wireType == 0)
      return changeNumber(value, draw);
    [[fallthrough]];
  case 3:
  case 4: // the same field from elsewhere: names, operations, attributes, shapes
    for (unsigned tries = 0; tries < 50 && !others.empty(); ++tries) {
      const Place &other = others[draw.below(others.size())];
      if (other.owner != place.owner || other.value().number != value.number)
        continue;
      Value copy = other.value();
      value = std::move(copy);
      return;
    }
    return;
  case 5:
    if (value.wireType == 2 && value.message == kNoMessage)
      value.bytes = mutateBytes(value.bytes, {value.bytes}, draw);
    else
      value.number = 1 + draw.below(13);
    return;
  default:
    std::swap(value, (*place.list)[draw.below(place.list->size())]);
  }
}

static std::string mutate(StringRef input, const Schema &schema, Corpus corpus, Draw &draw) {
  std::vector<Value> file;
  if (draw.chance(10) || !parse(input, schema, 0, file))
    return mutateBytes(input, corpus, draw);
  for (size_t rounds = draw.chance(60) ? 1 : 1 + draw.below(8); rounds > 0; --rounds) {
    std::vector<Value> other;
    if (draw.chance(70) || !parse(draw.of(corpus), schema, 0, other))
      other = file;
    std::vector<Place> others;
    collect(other, 0, others);
    change(file, schema, others, draw);
  }
  return print(file);
}

//===----------------------------------------------------------------------===//
// GraphDefs
//===----------------------------------------------------------------------===//

/// The outermost message of a SavedModel takes the place of that of a graph.
static std::string mutateTensorFlow(StringRef input, Corpus corpus, Draw &draw, bool isSaved) {
  enum : Message {
    Outermost,
    SavedGraph,
    Node,
    Entry,
    Attr,
    List,
    Shape,
    Dim,
    Tensor,
    Library,
    Function,
    Signature,
    Parameter,
    Text,
    Called,
    MetaGraph,
    Info,
    Saver,
    Collection,
    Texts,
    SignatureEntry,
    SignatureDef,
    TensorEntry,
    TensorInfo,
    Objects,
    Object,
    Child,
    Variable
  };
  const Message graph = isSaved ? SavedGraph : Outermost;
  const Field fields[] = {
      {isSaved ? Outermost : kNoMessage, 2, MetaGraph},
      {MetaGraph, 1, Info},
      {MetaGraph, 2, SavedGraph},
      {MetaGraph, 3, Saver},
      {MetaGraph, 4, Collection},
      {Collection, 2, Texts},
      {MetaGraph, 5, SignatureEntry},
      {SignatureEntry, 2, SignatureDef},
      {SignatureDef, 1, TensorEntry},
      {SignatureDef, 2, TensorEntry},
      {TensorEntry, 2, TensorInfo},
      {TensorInfo, 3, Shape},
      {MetaGraph, 7, Objects},
      {Objects, 1, Object},
      {Object, 1, Child},
      {Object, 7, Variable},
      {graph, 1, Node},
      {graph, 2, Library},
      {Node, 5, Entry},
      {Entry, 2, Attr},
      {Attr, 1, List},
      {Attr, 7, Shape},
      {Attr, 8, Tensor},
      {List, 7, Shape},
      {Shape, 2, Dim},
      {Tensor, 2, Shape},
      {Library, 1, Function},
      {Function, 1, Signature},
      {Function, 3, Node},
      {Function, 4, Text},
      {Function, 6, Text},
      {Signature, 2, Parameter},
      {Signature, 3, Parameter},
      {Attr, 10, Called},
      {List, 9, Called},
      {Called, 2, Entry},
  };
  return mutate(input, {fields, Node}, corpus, draw);
}

std::string mutateGraphDef(StringRef input, Corpus corpus, Draw &draw) {
  return mutateTensorFlow(input, corpus, draw, /*isSaved=*/false);
}

std::string mutateSavedModel(StringRef input, Corpus corpus, Draw &draw) {
  return mutateTensorFlow(input, corpus, draw, /*isSaved=*/true);
}

//===----------------------------------------------------------------------===//
// ONNX models
//===----------------------------------------------------------------------===//

std::string mutateOnnx(StringRef input, Corpus corpus, Draw &draw) {
  enum : Message {
    Model,
    Graph,
    Node,
    Attribute,
    ValueInfo,
    Type,
    TensorType,
    ElementsType,
    Shape,
    Dim,
    Tensor,
    SparseTensor,
    StringPair,
    OperatorSet,
    Function
  };
  static constexpr Field kFields[] = {
      {Model, 7, Graph},         {Model, 8, OperatorSet},
      {Model, 25, Function},     {Graph, 1, Node},
      {Graph, 5, Tensor},        {Graph, 11, ValueInfo},
      {Graph, 12, ValueInfo},    {Graph, 13, ValueInfo},
      {Graph, 15, SparseTensor}, {Node, 5, Attribute},
      {Attribute, 5, Tensor},    {Attribute, 6, Graph},
      {Attribute, 10, Tensor},   {Attribute, 11, Graph},
      {Attribute, 14, Type},     {Attribute, 22, SparseTensor},
      {ValueInfo, 2, Type},      {Type, 1, TensorType},
      {Type, 4, ElementsType},   {Type, 9, ElementsType},
      {TensorType, 2, Shape},    {ElementsType, 1, Type},
      {Shape, 1, Dim},           {Tensor, 13, StringPair},
      {SparseTensor, 1, Tensor}, {SparseTensor, 2, Tensor},
      {Function, 7, Node},       {Function, 9, OperatorSet},
      {Function, 11, Attribute},
  };
  return mutate(input, {kFields, Node}, corpus, draw);
}

} // namespace tfc::fuzz
