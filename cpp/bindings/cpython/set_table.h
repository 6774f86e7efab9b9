// The hash table of a set, taken apart so that a copy of the set has its elements in the same order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// In which order a set gives its elements, and which one pop() takes, depends on how it came to be: a set with the same
// elements put in one by one has another order where they collide, or where it has been larger once. Programs go by
// that order, unknowing, so a copy made in another one does what the program cannot do.
class SetTable {
 public:
  struct Key {
    std::size_t place;
    Py_hash_t hash;
    py::object object;
  };

  // A set or a frozenset, which may change afterwards.
  explicit SetTable(PyObject* set);

  // In the order of the set, for whoever copies it to replace the objects by their copies.
  [[nodiscard]] std::vector<Key>& keys() noexcept { return keys_; }

  // A set of these elements at their places; each must have the hash of the one whose place it takes.
  [[nodiscard]] py::object make() const;
  // A set of these elements, put in one by one.
  [[nodiscard]] py::object make_anew() const;

 private:
  bool frozen_;
  std::size_t size_;
  Py_ssize_t fill_;
  Py_ssize_t finger_;
  std::vector<Key> keys_;
  std::vector<std::pair<std::size_t, setentry>> deleted_;  // the places of elements that were taken out, with the mark
};

}  // namespace ordeal::bindings
