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
  // Reports all numbers, rounded down, after a step in which the session reads them.
  void look(PyObject* machine, Session& session) const;
  // Returns them with their labels, for a run in another process than its session.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> all(PyObject* machine) const;

 private:
  struct Node {
    py::object name;
    std::uint64_t label = 0;  // of the whole path
    std::vector<Node> parts;
  };

  template <typename See>
  static void walk(const Node& node, PyObject* object, const See& see);

  Node machine_;
};

}  // namespace ordeal::bindings
