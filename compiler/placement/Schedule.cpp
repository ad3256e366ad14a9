//===- Schedule.cpp - Assigning tasks to devices --------------------------===//
//
// Upward ranks, earliest finish times with insertion, and a local search from several starts. All
// candidates are measured by the same simulation.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Schedule.h"
#include "compiler/placement/Timeline.h"
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace tfc::placement {

/// How many steps of simulations the local search may take, about a second.
static constexpr uint64_t kBudget = 10'000'000;
/// Pairs of units are moved in graphs with at most that many free ones.
static constexpr unsigned kMaxPairs = 24;
/// Gains below this part of the makespan are rounding.
static constexpr double kGain = 1e-9;
static constexpr unsigned kNowhere = std::numeric_limits<unsigned>::max();

double TaskGraph::transfer(unsigned from, unsigned to, double bytes, double times) const {
  if (from == to || bytes < 0)
    return 0;
  const Link &link = links[from * deviceCount + to];
  return times * (link.latency + bytes / link.bandwidth);
}

bool Schedule::isBetterThan(const Schedule &other) const {
  return makespan < other.makespan * (1 - kGain) ||
         (makespan <= other.makespan && sent < other.sent * (1 - kGain));
}

static double meanOf(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

Scheduler::Scheduler(const TaskGraph &graph)
    : graph(graph), edgesTo(graph.tasks.size()), weights(graph.units.size()), budget(kBudget) {
  for (unsigned i = 0; i < graph.edges.size(); ++i)
    edgesTo[graph.edges[i].to].push_back(i);
  for (const TaskGraph::Task &task : graph.tasks)
    weights[task.unit] += meanOf(task.seconds);
  for (const TaskGraph::Unit &unit : graph.units)
    areFree.push_back(std::count(unit.allowed.begin(), unit.allowed.end(), true) > 1);
  lightest = 1e-3 * std::accumulate(weights.begin(), weights.end(), 0.0);
  computeRanks();
  linkUnits();
}

/// The mean transfer between two devices is that of the first two.
void Scheduler::computeRanks() {
  std::vector<double> ranks(graph.tasks.size());
  for (unsigned task = graph.tasks.size(); task-- > 0;) {
    ranks[task] += meanOf(graph.tasks[task].seconds);
    for (unsigned i : edgesTo[task]) {
      const TaskGraph::Edge &edge = graph.edges[i];
      bool isInside = graph.tasks[edge.from].unit == graph.tasks[task].unit;
      double share = 1 - 1.0 / graph.deviceCount; // of the pairs of devices
      double sent = isInside || graph.deviceCount == 1
                        ? 0
                        : share * graph.transfer(0, 1, edge.bytes, edge.times);
      ranks[edge.from] = std::max(ranks[edge.from], sent + ranks[task]);
    }
  }
  order.resize(graph.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return ranks[a] > ranks[b]; });
}

void Scheduler::linkUnits() {
  std::vector<std::set<unsigned>> linked(graph.units.size());
  auto link = [&](unsigned from, unsigned to) {
    unsigned a = graph.tasks[from].unit, b = graph.tasks[to].unit;
    if (a == b)
      return;
    linked[a].insert(b);
    linked[b].insert(a);
  };
  for (const TaskGraph::Edge &edge : graph.edges)
    if (edge.bytes >= 0)
      link(edge.from, edge.to);
  for (const TaskGraph::BackEdge &edge : graph.backEdges)
    link(edge.from, edge.to);
  for (const std::set<unsigned> &units : linked)
    neighbours.emplace_back(units.begin(), units.end());
}

/// Units without work, such as variables, follow those that read them.
bool Scheduler::isLight(unsigned unit) const { return isFree(unit) && weights[unit] <= lightest; }

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// An iteration of a loop waits for what crosses from the one before it.
double Scheduler::penalty(const Devices &devices) const {
  std::map<unsigned, double> longest;
  for (const TaskGraph::BackEdge &edge : graph.backEdges) {
    unsigned from = devices[graph.tasks[edge.from].unit], to = devices[graph.tasks[edge.to].unit];
    double &seconds = longest[edge.loop];
    seconds = std::max(seconds, graph.transfer(from, to, edge.bytes, edge.times));
  }
  double sum = 0;
  for (auto [loop, seconds] : longest)
    sum += seconds;
  return sum;
}

Schedule Scheduler::simulate(const Devices &devices) const {
  Schedule schedule{devices, std::vector<double>(graph.tasks.size())};
  std::vector<double> ends(graph.tasks.size());
  std::vector<Timeline> timelines(graph.deviceCount);
  for (unsigned task : order) {
    unsigned device = devices[graph.tasks[task].unit];
    double ready = 0, seconds = graph.tasks[task].seconds[device];
    for (unsigned i : edgesTo[task]) {
      const TaskGraph::Edge &edge = graph.edges[i];
      unsigned from = devices[graph.tasks[edge.from].unit];
      double sent = graph.transfer(from, device, edge.bytes, edge.times);
      ready = std::max(ready, ends[edge.from] + sent);
      schedule.sent += sent;
    }
    double start = timelines[device].findStart(ready, seconds);
    timelines[device].add(start, seconds);
    schedule.starts[task] = start;
    ends[task] = start + seconds;
    schedule.makespan = std::max(schedule.makespan, ends[task]);
  }
  schedule.makespan += penalty(devices);
  budget -= std::min<uint64_t>(budget, graph.tasks.size() + graph.edges.size());
  return schedule;
}

std::vector<Schedule> Scheduler::getSingles() const {
  std::vector<Schedule> schedules;
  for (unsigned device = 0; device < graph.deviceCount; ++device) {
    Devices devices;
    for (const TaskGraph::Unit &unit : graph.units) {
      unsigned first =
          std::find(unit.allowed.begin(), unit.allowed.end(), true) - unit.allowed.begin();
      devices.push_back(unit.allowed[device] ? device : first);
    }
    schedules.push_back(simulate(devices));
  }
  return schedules;
}

unsigned Scheduler::countTransfers(const Devices &devices) const {
  std::set<std::pair<unsigned, unsigned>> sent;
  for (const TaskGraph::Edge &edge : graph.edges) {
    unsigned from = devices[graph.tasks[edge.from].unit], to = devices[graph.tasks[edge.to].unit];
    if (from != to && edge.bytes >= 0)
      sent.emplace(edge.from, to);
  }
  return sent.size();
}

//===----------------------------------------------------------------------===//
// List scheduling
//===----------------------------------------------------------------------===//

namespace {
/// Places units in the order of their first tasks, each where that finishes first.
class ListScheduler {
public:
  ListScheduler(const TaskGraph &graph, const std::vector<std::vector<unsigned>> &edgesTo)
      : graph(graph), edgesTo(edgesTo), devices(graph.units.size(), kNowhere),
        ends(graph.tasks.size()), timelines(graph.deviceCount) {}

  /// Units without a device yet send nothing.
  double readyAt(unsigned task, unsigned device) const {
    double ready = 0;
    for (unsigned i : edgesTo[task]) {
      const TaskGraph::Edge &edge = graph.edges[i];
      unsigned from = devices[graph.tasks[edge.from].unit];
      bool isKnown = from != kNowhere && device != kNowhere;
      double sent = isKnown ? graph.transfer(from, device, edge.bytes, edge.times) : 0;
      ready = std::max(ready, ends[edge.from] + sent);
    }
    return ready;
  }

  /// When the unit of `task` is finished if nothing else delays its other tasks.
  double finish(unsigned task, unsigned device, const std::vector<double> &rest) const {
    double seconds = graph.tasks[task].seconds[device];
    return timelines[device].findStart(readyAt(task, device), seconds) + rest[device];
  }

  /// Runs a task on the device of its unit; one without a device takes no time yet.
  void run(unsigned task) {
    unsigned device = devices[graph.tasks[task].unit];
    if (device == kNowhere) {
      ends[task] = readyAt(task, kNowhere);
      return;
    }
    double seconds = graph.tasks[task].seconds[device];
    double start = timelines[device].findStart(readyAt(task, device), seconds);
    timelines[device].add(start, seconds);
    ends[task] = start + seconds;
  }

  const TaskGraph &graph;
  const std::vector<std::vector<unsigned>> &edgesTo;
  std::vector<unsigned> devices;
  std::vector<double> ends;
  std::vector<Timeline> timelines;
};
} // namespace

/// The seconds of all tasks of each unit, by device.
static std::vector<std::vector<double>> sumTasks(const TaskGraph &graph) {
  std::vector<std::vector<double>> sums(graph.units.size(), std::vector<double>(graph.deviceCount));
  for (const TaskGraph::Task &task : graph.tasks)
    for (unsigned device = 0; device < graph.deviceCount; ++device)
      sums[task.unit][device] += task.seconds[device];
  return sums;
}

Scheduler::Devices Scheduler::listSchedule() const {
  ListScheduler list(graph, edgesTo);
  std::vector<std::vector<double>> sums = sumTasks(graph);
  auto firstAllowed = [&](unsigned unit) {
    const std::vector<bool> &allowed = graph.units[unit].allowed;
    return unsigned(std::find(allowed.begin(), allowed.end(), true) - allowed.begin());
  };
  for (unsigned unit = 0; unit < graph.units.size(); ++unit)
    if (!isFree(unit))
      list.devices[unit] = firstAllowed(unit);
  for (unsigned task : order) {
    unsigned unit = graph.tasks[task].unit;
    if (list.devices[unit] == kNowhere && !isLight(unit)) {
      double best = std::numeric_limits<double>::infinity();
      unsigned chosen = firstAllowed(unit);
      for (unsigned device = 0; device < graph.deviceCount; ++device)
        if (double end = list.finish(task, device, sums[unit]);
            isAllowed(unit, device) && end < best) {
          best = end;
          chosen = device;
        }
      list.devices[unit] = chosen;
      for (unsigned other : neighbours[unit])
        if (list.devices[other] == kNowhere && isLight(other) && isAllowed(other, chosen))
          list.devices[other] = chosen;
    }
    list.run(task);
  }
  for (unsigned unit = 0; unit < graph.units.size(); ++unit)
    if (list.devices[unit] == kNowhere)
      list.devices[unit] = firstAllowed(unit);
  return list.devices;
}

//===----------------------------------------------------------------------===//
// Local search
//===----------------------------------------------------------------------===//

bool Scheduler::accept(Schedule &best, const Devices &devices) const {
  Schedule other = simulate(devices);
  if (!other.isBetterThan(best))
    return false;
  best = std::move(other);
  return true;
}

/// Moves a unit, alone and together with those without work that it is connected to.
bool Scheduler::moveOne(Schedule &best) const {
  bool isBetter = false;
  for (unsigned unit = 0; unit < graph.units.size(); ++unit)
    for (unsigned device = 0; isFree(unit) && device < graph.deviceCount && budget > 0; ++device) {
      if (best.devices[unit] == device || !isAllowed(unit, device))
        continue;
      Devices moved = best.devices;
      moved[unit] = device;
      if (accept(best, moved)) {
        isBetter = true;
        continue;
      }
      bool isAlone = true;
      for (unsigned other : neighbours[unit])
        if (isLight(other) && isAllowed(other, device) && moved[other] != device) {
          moved[other] = device;
          isAlone = false;
        }
      isBetter |= !isAlone && accept(best, moved);
    }
  return isBetter;
}

/// Moves two units at once, in small graphs.
bool Scheduler::moveTwo(Schedule &best) const {
  std::vector<unsigned> free;
  for (unsigned unit = 0; unit < graph.units.size(); ++unit)
    if (isFree(unit))
      free.push_back(unit);
  if (free.size() > kMaxPairs)
    return false;
  for (unsigned a = 0; a < free.size(); ++a)
    for (unsigned b = 0; b < a; ++b)
      for (unsigned pair = 0; pair < graph.deviceCount * graph.deviceCount && budget > 0; ++pair) {
        unsigned first = pair / graph.deviceCount, second = pair % graph.deviceCount;
        if (!isAllowed(free[a], first) || !isAllowed(free[b], second))
          continue;
        Devices moved = best.devices;
        moved[free[a]] = first;
        moved[free[b]] = second;
        if (accept(best, moved))
          return true;
      }
  return false;
}

void Scheduler::improve(Schedule &best) const {
  while (budget > 0 && (moveOne(best) || moveTwo(best))) {
  }
}

Schedule Scheduler::run() const {
  std::vector<Schedule> starts = getSingles();
  starts.push_back(simulate(listSchedule()));
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Schedule &a, const Schedule &b) { return a.makespan < b.makespan; });
  Schedule best = starts.front();
  for (Schedule &start : starts) {
    improve(start);
    if (start.isBetterThan(best))
      best = start;
  }
  return best;
}

} // namespace tfc::placement
