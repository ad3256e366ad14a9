//===- Frames.cpp - The frame of each node --------------------------------===//
//
// Assigns each node the frame in which it runs, the step after the graph is read. It establishes
// only the tree of frames; Loops.cpp decides which frames are loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Frames.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

namespace {
class FrameAssigner {
public:
  FrameAssigner(Graph &graph) : graph(graph) {
    graph.frames.push_back(std::make_unique<Frame>());
    root = graph.frames.front().get();
  }

  LogicalResult run() {
    SmallVector<Node *> cycle;
    SmallVector<Node *> sorted = sortTopologically(graph.nodes, cycle);
    if (!cycle.empty())
      return emitError(cycle.front()->op->getLoc(), "the cycle ")
             << namesOf(cycle) << " has no 'next_iteration' [dataflow-cycle]";
    graph.nodes = std::move(sorted);
    if (failed(findParents()))
      return failure();
    for (Node *node : graph.nodes) {
      node->frame = innermost(*node);
      checkInputs(*node);
      node->frame->nodes.push_back(node);
    }
    for (Node *node : graph.nodes)
      if (node->kind == Kind::Merge)
        checkNextIterations(*node);
    checkResults();
    return success(!hasErrors);
  }

private:
  InFlightDiagnostic fail(Node &node) {
    hasErrors = true;
    return emitError(node.op->getLoc()) << nameOf(&node) << ' ';
  }

  /// The frame to which the results of a node belong.
  Frame *frameOfResults(Node *node) {
    if (node->kind == Kind::Enter)
      return node->entered;
    if (node->kind == Kind::Exit && node->frame->parent)
      return node->frame->parent;
    return node->frame;
  }

  static bool isWithin(Frame *inner, Frame *outer) {
    while (inner && inner->depth > outer->depth)
      inner = inner->parent;
    return inner == outer;
  }

  Frame *frameEnteredBy(Node &node) {
    Frame *&frame = byName[cast<EnterOp>(node.op).getFrame()];
    if (!frame) {
      graph.frames.push_back(std::make_unique<Frame>());
      frame = graph.frames.back().get();
      frame->name = cast<EnterOp>(node.op).getFrame();
      frame->entered = &node;
    }
    return frame;
  }

  /// The innermost frame of a node's inputs; for an enter, the frame around the one it enters.
  Frame *innermost(Node &node) {
    if (node.kind == Kind::Enter && node.entered->parent)
      return node.entered->parent;
    Frame *frame = root;
    SmallVector<Node *> predecessors;
    addPredecessors(node, predecessors);
    for (Node *input : predecessors)
      if (input->kind != Kind::Outside && frameOfResults(input)->depth > frame->depth)
        frame = frameOfResults(input);
    return frame;
  }

  /// Finds the tree of frames: a frame is nested in the innermost frame from which it is entered.
  /// That depends on the frames of nodes, which depend on the tree, so this iterates to a fixed
  /// point; frames only move inwards.
  LogicalResult findParents() {
    for (Node *node : graph.nodes)
      if (node->kind == Kind::Enter)
        node->entered = frameEnteredBy(*node);
    size_t rounds = 0;
    for (bool isStable = false; !isStable; ++rounds) {
      isStable = true;
      for (Node *node : graph.nodes) {
        if (node->kind == Kind::Enter)
          isStable &= !moveInwards(*node);
        node->frame = innermost(*node);
      }
      if (rounds > graph.frames.size())
        return emitError(graph.frames.back()->entered->op->getLoc(), "frame '")
               << graph.frames.back()->name << "' is entered from inside itself [unrelated-frames]";
    }
    // Parents precede their children.
    llvm::sort(graph.frames, [](auto &a, auto &b) {
      return std::pair(a->depth, a->entered ? a->entered->order + 1 : 0) <
             std::pair(b->depth, b->entered ? b->entered->order + 1 : 0);
    });
    return success();
  }

  bool moveInwards(Node &enter) {
    Frame *around = root;
    SmallVector<Node *> predecessors;
    addPredecessors(enter, predecessors);
    for (Node *input : predecessors)
      if (input->kind != Kind::Outside && frameOfResults(input)->depth > around->depth)
        around = frameOfResults(input);
    Frame &frame = *enter.entered;
    if (frame.parent && frame.parent->depth >= around->depth && frame.depth > frame.parent->depth)
      return false;
    if (!frame.parent || frame.parent->depth < around->depth)
      frame.parent = around;
    frame.depth = frame.parent->depth + 1;
    return true;
  }

  void checkInputs(Node &node) {
    SmallVector<Node *> predecessors;
    addPredecessors(node, predecessors);
    for (Node *input : predecessors)
      if (input->kind != Kind::Outside && !isWithin(node.frame, frameOfResults(input)))
        failUnrelated(node, *input);
    bool needsFrame =
        node.kind == Kind::Exit || node.kind == Kind::NextIteration || node.kind == Kind::LoopCond;
    if (needsFrame && node.frame == root)
      fail(node) << "is not in a frame: its input does not come from an 'enter' [outside-frame]";
  }

  void failUnrelated(Node &node, Node &input) {
    auto describe = [&](Frame *frame) {
      return frame == root ? std::string("the graph") : ("frame '" + frame->name + "'").str();
    };
    Frame *other = frameOfResults(&input);
    if (node.kind == Kind::Enter) {
      auto diagnostic = fail(node) << "enters frame '" << node.entered->name << "' from "
                                   << describe(other) << ", but it is also entered from "
                                   << describe(node.frame) << " [unrelated-frames]";
      diagnostic.attachNote(node.entered->entered->op->getLoc())
          << nameOf(node.entered->entered) << " enters it here";
      return;
    }
    auto diagnostic = fail(node) << "takes values of two frames, '" << node.frame->name << "' and '"
                                 << other->name << "' [unrelated-frames]";
    diagnostic.attachNote(input.op->getLoc()) << nameOf(&input) << " is in " << describe(other);
  }

  void checkNextIterations(Node &merge) {
    for (auto [input, result] : merge.inputs)
      if (input->kind == Kind::NextIteration && input->frame != merge.frame)
        fail(merge) << "is not in the frame of " << nameOf(input)
                    << ", which starts its next iteration [unrelated-frames]";
  }

  void checkResults() {
    auto names = graph.op.getNames();
    for (auto [i, edge] : llvm::enumerate(graph.results)) {
      if (edge.first->kind == Kind::Outside || frameOfResults(edge.first) == root)
        continue;
      std::string name =
          names ? ("'" + cast<StringAttr>((*names)[i]).getValue() + "'").str() : nameOf(edge.first);
      hasErrors = true;
      emitError(edge.first->op->getLoc(), "the result ")
          << name << " is inside frame '" << frameOfResults(edge.first)->name
          << "': pass it through an 'exit' [outside-frame]";
    }
  }

  Graph &graph;
  Frame *root;
  llvm::StringMap<Frame *> byName;
  bool hasErrors = false;
};
} // namespace

LogicalResult assignFrames(Graph &graph) { return FrameAssigner(graph).run(); }

} // namespace tfc::controlflow
