//===- Schedule.h - Assigning tasks to devices ----------------------------===//
//
// List scheduling of a graph of tasks, after HEFT (Topcuoglu et al., 2002). It knows no IR.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tfc::placement {

/// The cost of bringing a value from one device to another.
struct Link {
  double latency = 3e-6;   // seconds
  double bandwidth = 10e9; // bytes per second
};

/// Work with its dependences. Tasks are in an order in which they could run one after the other.
struct TaskGraph {
  /// Runs as a whole on one device.
  struct Task {
    unsigned unit;
    std::vector<double> seconds; // by device
  };
  /// Tasks that share a device, one of those allowed.
  struct Unit {
    std::vector<bool> allowed; // by device
  };
  /// `to` starts after `from`. Between devices the value is sent `times` times; a negative number
  /// of bytes stands for an order without a value.
  struct Edge {
    unsigned from, to;
    double bytes = 0, times = 1;
  };
  /// A value of one iteration of a loop that the next one reads.
  struct BackEdge {
    unsigned loop, from, to;
    double bytes = 0, times = 1;
  };

  explicit TaskGraph(unsigned deviceCount)
      : deviceCount(deviceCount), links(deviceCount * deviceCount) {}

  unsigned deviceCount;
  std::vector<Link> links; // from * deviceCount + to
  std::vector<Unit> units;
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  std::vector<BackEdge> backEdges;

  /// The seconds from the end of a task to the start of one on another device that reads its value.
  double transfer(unsigned from, unsigned to, double bytes, double times) const;
};

struct Schedule {
  std::vector<unsigned> devices; // by unit
  std::vector<double> starts;    // by task
  double makespan = 0;           // seconds
  double sent = 0;               // seconds of all transfers

  /// Returns true if this ends before `other`, or with it and sends less.
  bool isBetterThan(const Schedule &other) const;
};

/// Schedules one graph, which must outlive the scheduler.
class Scheduler {
public:
  explicit Scheduler(const TaskGraph &graph);

  /// Runs the tasks on given devices, each as early as its device and what it reads allow.
  Schedule simulate(const std::vector<unsigned> &devices) const;

  /// Chooses a device for each unit. The makespan is at most that of each schedule of `getSingles`.
  Schedule run() const;

  /// The schedules with everything on one device, except for units that are not allowed there, for
  /// each device.
  std::vector<Schedule> getSingles() const;

  /// How many values cross between devices.
  unsigned countTransfers(const std::vector<unsigned> &devices) const;

private:
  using Devices = std::vector<unsigned>;

  void computeRanks();
  void linkUnits();
  double penalty(const Devices &devices) const;
  Devices listSchedule() const;
  void improve(Schedule &best) const;
  bool moveOne(Schedule &best) const;
  bool moveTwo(Schedule &best) const;
  bool accept(Schedule &best, const Devices &devices) const;
  bool isAllowed(unsigned unit, unsigned device) const { return graph.units[unit].allowed[device]; }
  /// Returns true for units that are allowed on several devices.
  bool isFree(unsigned unit) const { return areFree[unit]; }
  bool isLight(unsigned unit) const;

  const TaskGraph &graph;
  std::vector<std::vector<unsigned>> edgesTo;    // by task
  std::vector<unsigned> order;                   // tasks by decreasing rank
  std::vector<double> weights;                   // mean seconds, by unit
  std::vector<bool> areFree;                     // by unit
  std::vector<std::vector<unsigned>> neighbours; // by unit
  double lightest;
  mutable uint64_t budget; // of steps of the simulation
};

} // namespace tfc::placement
