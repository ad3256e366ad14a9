//===- ScheduleTest.cpp - Assignments of tasks to devices -----------------===//
//
// Compares the scheduler with an exhaustive search on small random graphs, which the same
// simulation measures.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Schedule.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace tfc::placement;

namespace {

using Devices = std::vector<unsigned>;

/// Numbers that are the same with every library.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  unsigned below(unsigned count) { return engine() % count; }
  double between(double low, double high) { return low + (high - low) * (engine() / 4294967296.0); }

private:
  std::mt19937 engine;
};

void addUnit(TaskGraph &graph, Random &random) {
  std::vector<bool> allowed(graph.deviceCount, true);
  if (random.below(5) == 0) {
    std::fill(allowed.begin(), allowed.end(), false);
    allowed[random.below(graph.deviceCount)] = true;
  }
  graph.units.push_back({allowed});
}

/// Draws up to 8 tasks, most in units of their own, of 1 to 100 us. Devices differ in speed, and
/// values in size.
TaskGraph draw(unsigned seed) {
  Random random(seed);
  TaskGraph graph(2 + random.below(2));
  std::vector<double> speeds;
  for (unsigned device = 0; device < graph.deviceCount; ++device)
    speeds.push_back(random.between(0.5, 2));
  unsigned tasks = 3 + random.below(6);
  for (unsigned task = 0; task < tasks; ++task) {
    if (task == 0 || random.below(6) != 0)
      addUnit(graph, random);
    unsigned unit =
        random.below(6) == 0 ? random.below(graph.units.size()) : unsigned(graph.units.size() - 1);
    double seconds = random.below(8) == 0 ? 0 : random.between(1e-6, 1e-4);
    TaskGraph::Task drawn{unit, {}};
    for (double speed : speeds)
      drawn.seconds.push_back(seconds * speed);
    graph.tasks.push_back(drawn);
    for (unsigned from = 0; from < task; ++from)
      if (random.below(3) == 0)
        graph.edges.push_back({from, task, random.between(0, 3e5), 1.0 + random.below(3)});
  }
  if (random.below(4) == 0)
    graph.backEdges.push_back({0, tasks - 1, 0, random.between(0, 1e5), 10});
  return graph;
}

bool isValid(const TaskGraph &graph, const Devices &devices) {
  if (devices.size() != graph.units.size())
    return false;
  for (unsigned unit = 0; unit < devices.size(); ++unit)
    if (devices[unit] >= graph.deviceCount || !graph.units[unit].allowed[devices[unit]])
      return false;
  return true;
}

/// The shortest makespan of all assignments.
double searchAll(const TaskGraph &graph, const Scheduler &scheduler) {
  double best = std::numeric_limits<double>::infinity();
  Devices devices(graph.units.size());
  for (;;) {
    if (isValid(graph, devices))
      best = std::min(best, scheduler.simulate(devices).makespan);
    unsigned unit = 0;
    while (unit < devices.size() && ++devices[unit] == graph.deviceCount)
      devices[unit++] = 0;
    if (unit == devices.size())
      return best;
  }
}

/// Each task starts after what it reads has arrived, and no device runs two tasks at once.
void expectPossible(const TaskGraph &graph, const Schedule &schedule) {
  auto deviceOf = [&](unsigned task) { return schedule.devices[graph.tasks[task].unit]; };
  auto endOf = [&](unsigned task) {
    return schedule.starts[task] + graph.tasks[task].seconds[deviceOf(task)];
  };
  constexpr double kRounding = 1e-12;
  for (const TaskGraph::Edge &edge : graph.edges) {
    double sent = graph.transfer(deviceOf(edge.from), deviceOf(edge.to), edge.bytes, edge.times);
    EXPECT_GE(schedule.starts[edge.to] + kRounding, endOf(edge.from) + sent);
  }
  for (unsigned a = 0; a < graph.tasks.size(); ++a)
    for (unsigned b = 0; b < a; ++b) {
      bool isEmpty = endOf(a) <= schedule.starts[a] || endOf(b) <= schedule.starts[b];
      if (deviceOf(a) == deviceOf(b) && !isEmpty) {
        EXPECT_TRUE(endOf(a) <= schedule.starts[b] + kRounding ||
                    endOf(b) <= schedule.starts[a] + kRounding);
      }
    }
}

TEST(Schedule, IsCloseToTheBest) {
  unsigned close = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    TaskGraph graph = draw(seed);
    Scheduler scheduler(graph);
    Schedule schedule = scheduler.run();
    ASSERT_TRUE(isValid(graph, schedule.devices)) << "seed " << seed;
    expectPossible(graph, schedule);
    double best = searchAll(graph, scheduler);
    close += schedule.makespan <= 1.05 * best;
    for (const Schedule &single : scheduler.getSingles())
      EXPECT_LE(schedule.makespan, single.makespan * (1 + 1e-9)) << "seed " << seed;
  }
  EXPECT_GE(close, 95u);
  RecordProperty("close", close);
}

/// Two chains of equal work between a fork and a join, which are on the first device.
TaskGraph drawBranches(double seconds) {
  TaskGraph graph(2);
  for (unsigned unit = 0; unit < 3; ++unit)
    graph.units.push_back({{true, unit != 0}});
  graph.tasks = {{0, {0, 0}}, {1, {seconds, seconds}}, {2, {seconds, seconds}}, {0, {0, 0}}};
  graph.edges = {{0, 1, 100}, {0, 2, 100}, {1, 3, 100}, {2, 3, 100}};
  return graph;
}

TEST(Schedule, DividesBranchesThatAreWorthIt) {
  TaskGraph graph = drawBranches(1e-3);
  Schedule schedule = Scheduler(graph).run();
  EXPECT_NE(schedule.devices[1], schedule.devices[2]);
  EXPECT_LT(schedule.makespan, 1.1e-3);
}

TEST(Schedule, KeepsSmallBranchesTogether) {
  TaskGraph graph = drawBranches(1e-6);
  Schedule schedule = Scheduler(graph).run();
  EXPECT_EQ(schedule.devices[1], 0u);
  EXPECT_EQ(schedule.devices[2], 0u);
}

TEST(Schedule, CountsATransferOncePerDestination) {
  TaskGraph graph = drawBranches(1e-3);
  EXPECT_EQ(Scheduler(graph).countTransfers({0, 1, 1}), 3u);
}

/// Values that pass from one iteration to the next keep the tasks of a loop together.
TEST(Schedule, CountsWhatIterationsExchange) {
  TaskGraph graph = drawBranches(1e-5);
  Schedule apart = Scheduler(graph).simulate({0, 0, 1});
  graph.backEdges.push_back({0, 2, 1, 100, 100});
  EXPECT_GT(Scheduler(graph).simulate({0, 0, 1}).makespan, apart.makespan + 2e-4);
}

} // namespace
