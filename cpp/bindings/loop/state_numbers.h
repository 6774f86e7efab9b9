// The state of a machine as features: how large its numbers and its collections are.
//
// Edges do not show that a counter has come near its limit, or that a cache is nearly full. The state in which a number
// is larger than ever before is kept, and runs climb from there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/search/session.h"

namespace ordeal::bindings {

// For one thread. Reads attributes of instances, and runs no code of the user: it passes over what a class defines.
class StateNumbers {
 public:
  // Adds an attribute of the machine, or one of an object that is such an attribute, and so on.
  void add(const std::vector<std::string>& path);
  // Each number is new to a run, or to the part of one that begins with another machine. `reads`: whether any is read.
  void begin_run(bool reads) noexcept {
    ++run_;
    reads_ = reads;
  }
  // Reports the numbers that are not what they were at the step before.
  void look(PyObject* machine, Session& session);
  // All of them, with their labels, for a run in another process than its session.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> all(PyObject* machine);

 private:
  struct Node {
    py::object name;
    std::uint64_t label = 0;  // of the whole path
    std::vector<Node> parts;
    std::uint64_t run = 0;  // the last one in which it had a value
    double number = 0;      // at its last step, rounded down
  };

  template <typename See>
  static void walk(Node& node, PyObject* object, const See& see);

  Node machine_;
  std::uint64_t run_ = 1;
  bool reads_ = false;
};

}  // namespace ordeal::bindings
