// The hash table of a set, taken apart so that a copy of the set iterates in the same order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// The iteration order of a set, and what pop() takes, depend on its history: a set with the same elements inserted one
// by one differs if they collide, or if it was larger once. Programs unknowingly depend on that order, so a copy with
// another one could do what the program cannot do.
class SetTable {
 public:
  struct Key {
    std::size_t place;
    Py_hash_t hash;
    py::object object;
  };

  // A set or a frozenset, which may change afterwards.
  explicit SetTable(PyObject* set);

  // In the order of the set; the caller replaces the objects by their copies.
  [[nodiscard]] std::vector<Key>& keys() noexcept { return keys_; }

  // Makes a set of these elements at their places; each must have the hash of the one that it replaces.
  [[nodiscard]] py::object make() const;
  // Makes a set of these elements, inserted one by one.
  [[nodiscard]] py::object make_anew() const;

 private:
  bool frozen_;
  std::size_t size_;
  Py_ssize_t fill_;
  Py_ssize_t finger_;
  std::vector<Key> keys_;
  std::vector<std::pair<std::size_t, setentry>> deleted_;  // the places of deleted elements, with their marker
};

}  // namespace ordeal::bindings
