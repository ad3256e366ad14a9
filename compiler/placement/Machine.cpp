//===- Machine.cpp - Devices and what they can do -------------------------===//
//
// Reads the description of devices and links.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Machine.h"
#include "dialects/dfg/Devices.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/JSON.h"
#include <cmath>

namespace json = llvm::json;
using llvm::StringRef;
using namespace tfc::dfg;

namespace tfc::placement {

/// A description is not longer than this, which bounds the number of links.
static constexpr size_t kMaxDevices = 64;

/// The kinds of devices, and what they can do unless they are described otherwise.
struct Kind {
  StringRef name;
  DeviceFigures figures;
  Link toCaller;
};

/// A GPU computes and copies as one of 2020 does, and a call of its driver takes a few
/// microseconds.
static const Kind kKinds[] = {
    {"cpu", {}, {}},
    {"gpu",
     {/*flops=*/10e12, /*bytes=*/1e12, /*launch=*/5e-6},
     {/*latency=*/15e-6, /*bandwidth=*/12e9}},
};

static const Kind *findKind(StringRef name) {
  const Kind *kind = llvm::find_if(kKinds, [&](const Kind &known) { return known.name == name; });
  return kind == std::end(kKinds) ? nullptr : kind;
}

bool isKnownKind(const DeviceName &name) { return name.kind.empty() || findKind(name.kind); }

bool Machine::isSupported(const DeviceName &name) const {
  bool isLocal = DeviceName::both({name.job, name.task, "", {}}, {"local", 0, "", {}}).has_value();
  return (isLocal || cluster.has(name)) && isKnownKind(name);
}

std::string Machine::refusalOf(const DeviceName &name) const {
  if (!isKnownKind(name))
    return "there is no device " + name.str() + ": expected the kind 'cpu' or 'gpu', but got '" +
           name.kind + "'";
  std::string task = DeviceName{name.job, name.task, "", {}}.str();
  if (cluster.isEmpty())
    return "there is no task " + task + " without a cluster, as in --cluster worker=2";
  return "there is no task " + task + " in the cluster " + cluster.str();
}

/// The first task of a job and the first device of a kind are number 0.
DeviceName complete(const DeviceName &name) {
  return name.within(callersDevice()).within({"", 0, name.kind, 0});
}

Machine::Machine(Cluster cluster) : cluster(std::move(cluster)) { add(callersDevice()); }

unsigned Machine::add(const DeviceName &name) {
  auto known = llvm::find(names, name);
  if (known != names.end())
    return known - names.begin();
  names.push_back(name);
  figures.push_back(findKind(name.kind)->figures);
  return names.size() - 1;
}

/// Two processes exchange messages as two machines on an ordinary network do.
static constexpr Link kNetwork = {/*latency=*/30e-6, /*bandwidth=*/1e9};

Link Machine::getLink(unsigned from, unsigned to) const {
  if (auto link = links.find({from, to}); link != links.end())
    return link->second;
  if (names[from].job != names[to].job || names[from].task != names[to].task)
    return kNetwork;
  const Kind *slower = findKind(names[from].kind);
  for (unsigned end : {from, to})
    if (const Kind *kind = findKind(names[end].kind);
        kind->toCaller.latency > slower->toCaller.latency)
      slower = kind;
  return slower->toCaller;
}

/// Reads a description; the first error is the reason.
class MachineReader {
public:
  MachineReader(Machine &machine, std::string &reason) : machine(machine), reason(reason) {}

  bool read(const json::Value &value) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return fail("expected an object with 'devices' and 'links'");
    if (!haveKeys(*object, {"devices", "links"}))
      return false;
    return readAll(*object, "devices", &MachineReader::readDevice) &&
           readAll(*object, "links", &MachineReader::readLink);
  }

private:
  bool fail(const llvm::Twine &text) {
    reason = text.str();
    return false;
  }

  bool haveKeys(const json::Object &object, std::initializer_list<StringRef> keys) {
    for (const auto &member : object)
      if (!llvm::is_contained(keys, StringRef(member.first)))
        return fail("'" + StringRef(member.first) + "' is not known here");
    return true;
  }

  using Reader = bool (MachineReader::*)(const json::Object &);
  bool readAll(const json::Object &object, StringRef key, Reader readOne) {
    const json::Value *value = object.get(key);
    if (!value)
      return true;
    const json::Array *array = value->getAsArray();
    if (!array || array->size() > kMaxDevices * kMaxDevices)
      return fail("expected a list as '" + key + "'");
    for (const json::Value &element : *array) {
      const json::Object *one = element.getAsObject();
      if (!one)
        return fail("expected objects in '" + key + "'");
      if (!(this->*readOne)(*one))
        return false;
    }
    return true;
  }

  /// Reads a number that is there. Seconds may be 0, rates are positive.
  bool readNumber(const json::Object &object, StringRef key, double &number) {
    const json::Value *value = object.get(key);
    if (!value)
      return true;
    bool isTime = key.ends_with("_seconds");
    std::optional<double> read = value->getAsNumber();
    if (!read || !std::isfinite(*read) || *read < 0 || (*read == 0 && !isTime))
      return fail(llvm::Twine("expected a ") +
                  (isTime ? "number of at least 0" : "positive number") + " as '" + key + "'");
    number = *read;
    return true;
  }

  std::optional<DeviceName> readName(const json::Object &object, StringRef key) {
    std::optional<StringRef> text = object.getString(key);
    std::string why;
    std::optional<DeviceName> name = text ? DeviceName::parse(*text, why) : std::nullopt;
    if (!text || !name || name->isOpen()) {
      fail("expected the name of a device as '" + key + "'" + (why.empty() ? "" : ": ") + why);
      return std::nullopt;
    }
    if (!machine.isSupported(*name)) {
      fail(machine.refusalOf(*name));
      return std::nullopt;
    }
    return complete(*name);
  }

  bool readDevice(const json::Object &object) {
    std::optional<DeviceName> name = readName(object, "name");
    if (!name ||
        !haveKeys(object, {"name", "flops_per_second", "bytes_per_second", "launch_seconds"}))
      return false;
    unsigned number = machine.add(*name);
    DeviceFigures figures = machine.getFigures(number);
    if (!readNumber(object, "flops_per_second", figures.flops) ||
        !readNumber(object, "bytes_per_second", figures.bytes) ||
        !readNumber(object, "launch_seconds", figures.launch))
      return false;
    if (!described.insert(number).second)
      return fail("device " + name->str() + " is there twice");
    machine.figures[number] = figures;
    return machine.size() <= kMaxDevices || fail("too many devices");
  }

  /// A link leads both ways.
  bool readLink(const json::Object &object) {
    std::optional<DeviceName> from = readName(object, "from");
    std::optional<DeviceName> to = from ? readName(object, "to") : std::nullopt;
    if (!from || !to || !haveKeys(object, {"from", "to", "latency_seconds", "bytes_per_second"}))
      return false;
    for (const DeviceName &end : {*from, *to})
      if (!llvm::is_contained(machine.names, end))
        return fail("there is no device " + end.str() + " to link");
    Link link;
    if (!readNumber(object, "latency_seconds", link.latency) ||
        !readNumber(object, "bytes_per_second", link.bandwidth))
      return false;
    unsigned a = machine.add(*from), b = machine.add(*to);
    if (a == b)
      return fail("a link leads from " + from->str() + " to itself");
    if (!machine.links.try_emplace({a, b}, link).second)
      return fail("the link between " + from->str() + " and " + to->str() + " is there twice");
    machine.links[{b, a}] = link;
    return true;
  }

  Machine &machine;
  std::string &reason;
  llvm::SmallSet<unsigned, 8> described;
};

/// Returns true if lists and objects are nested deeper than a description of devices ever is:
/// LLVM's parser calls itself for each of them. Brackets in strings count, too.
static bool isTooDeep(StringRef text) {
  constexpr int kMaxDepth = 64;
  int depth = 0, deepest = 0;
  for (char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    deepest = std::max(deepest, depth);
  }
  return deepest > kMaxDepth;
}

bool Machine::read(StringRef text, std::string &reason) {
  if (isTooDeep(text)) {
    reason = "lists are nested too deeply";
    return false;
  }
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    reason = llvm::toString(value.takeError());
    return false;
  }
  return MachineReader(*this, reason).read(*value);
}

} // namespace tfc::placement
