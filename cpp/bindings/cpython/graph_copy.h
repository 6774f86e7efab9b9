// Copies a graph of Python objects like copy.deepcopy, without running Python for the most common types.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/cpython/object_shape.h"
#include "bindings/cpython/stack_room.h"

namespace ordeal::bindings {

// One copy with one memo: an object reachable in two ways stays one object. Used once, by one thread. Holds all
// originals and copies until it ends, so that no id is reused meanwhile.
//
// A function is copied where copy.deepcopy keeps it: when it closes over something that is copied, as a callback of a
// machine closes over the machine. So is a method of a built-in object, such as `self.log.append`. Kept, they would
// change the original through the copy. The same holds for attributes of an object that a `__deepcopy__` has made.
//
// An object that copy.deepcopy would rebuild, by calling its class with what it holds, is copied by its attributes
// where these can be copied: a rebuilt tree may be balanced in another way, and a run from it is not a run of its
// steps.
//
// A weak reference leads to the copy of its object if that is part of the graph, otherwise to the object itself.
// copy.deepcopy has them all lead to the original, which then lives in two states, or is gone.
//
// Where copy.deepcopy refuses: a lock that is free is copied as another one, and a module that is imported is its own
// copy.
class GraphCopy {
 public:
  // `memo` is the one of copy.deepcopy: copies by the ids of originals. Objects in it are not copied again. New copies
  // are added only for a `__deepcopy__` of the program, which receives it.
  explicit GraphCopy(py::dict memo);

  // Copies the whole graph. Throws py::error_already_set with the error of a hook of the program, or of an object that
  // cannot be copied.
  py::object copy_all(PyObject* original);

 private:
  py::object copy(PyObject* original);
  bool try_again();
  const ObjectShape& shape_of(PyTypeObject* type);

  py::object copy_by(const ObjectShape& shape, PyObject* original);
  py::object copy_container(PyObject* original);
  py::object copy_list(PyObject* original);
  py::object copy_tuple(PyObject* original);
  py::object copy_dict(PyObject* original);
  py::object copy_set(PyObject* original);
  py::object copy_function(PyObject* original);
  py::object copy_cell(PyObject* original);
  py::object copy_builtin(PyObject* original);
  void check_kept_functions() const;
  py::object copy_instance(PyObject* original, const ObjectShape& shape);
  py::object copy_zoned(PyObject* original, const ObjectShape& shape);
  py::object copy_deque(PyObject* original);
  py::object copy_default_dict(PyObject* original);
  py::object copy_ordered_dict(PyObject* original);
  py::object copy_lock(PyObject* original, const ObjectShape& shape);
  py::object copy_counter(PyObject* original, const ObjectShape& shape);
  py::object copy_module(PyObject* original, const ObjectShape& shape);
  py::object copy_weak(PyObject* original);
  py::object copy_weak_holder(PyObject* original, const ObjectShape& shape);
  py::object copy_target(PyObject* target);
  py::object copy_by_function(PyObject* original, const py::object& function, const py::tuple& arguments);
  py::object copy_by_hook(PyObject* original, const py::object& hook);
  py::object copy_remade(PyObject* original, const ObjectShape& shape);
  py::object copy_reduced(PyObject* original, const ObjectShape& shape);
  py::object copy_by_parts(PyObject* original, const py::object& reduced);
  py::object rebuild(PyObject* original, const py::tuple& parts);
  template <typename Put>
  void copy_each(PyObject* from, Put put);  // calls put(key, value) with copies
  void copy_items(PyObject* from, PyObject* to);
  void set_state(PyObject* copied, const py::object& state);

  [[nodiscard]] PyObject* known(PyObject* original) const;
  void remember(PyObject* original, const py::object& copied);
  void forget_after(std::size_t count);
  void tell_memo();
  void learn_from_memo();

  StackRoom room_;
  py::dict memo_;
  Py_ssize_t memo_size_ = 0;      // its size when last read or written
  Py_ssize_t memo_position_ = 0;  // of PyDict_Next
  std::size_t memoized_ = 0;      // how many of the pairs are in the memo
  std::vector<std::pair<py::object, py::object>> pairs_;
  tsl::robin_map<const void*, PyObject*> copies_;  // by the original
  tsl::robin_map<PyTypeObject*, std::shared_ptr<const ObjectShape>> shapes_;
  std::vector<PyTypeObject*> made_anew_;  // types whose attributes cannot be copied; held by kept_
  std::vector<py::object> kept_;
  // What functions that were kept hold on to: nothing of it may be copied later.
  std::vector<py::object> closed_over_;
  // The targets of weak references that were kept, and those that are parts of the graph as an earlier attempt has
  // shown.
  std::vector<py::object> kept_targets_;
  tsl::robin_map<const void*, py::object> parts_;
};

// Throws the error of copy.deepcopy. `format` says of what type the object is, by %R.
[[noreturn]] void refuse_copy(const char* format, PyObject* object);

}  // namespace ordeal::bindings
