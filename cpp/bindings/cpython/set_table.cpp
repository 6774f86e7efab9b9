#include "bindings/cpython/set_table.h"

#include <new>
#include <span>

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {
namespace {

// CPython's mark of a deleted element. No element has this hash.
constexpr Py_hash_t kDeleted = -1;

PySetObject* layout_of(PyObject* set) noexcept { return reinterpret_cast<PySetObject*>(set); }

}  // namespace

SetTable::SetTable(PyObject* set)
    : frozen_(Py_TYPE(set) == &PyFrozenSet_Type),
      size_(static_cast<std::size_t>(layout_of(set)->mask) + 1),
      fill_(layout_of(set)->fill),
      finger_(layout_of(set)->finger) {
  const std::span<const setentry> table(layout_of(set)->table, size_);
  keys_.reserve(static_cast<std::size_t>(layout_of(set)->used));
  for (std::size_t i = 0; i < size_; ++i) {
    const setentry& entry = table[i];
    if (entry.key == nullptr) {
      continue;
    }
    if (entry.hash == kDeleted) {
      deleted_.emplace_back(i, entry);
    } else {
      keys_.push_back({i, entry.hash, py::reinterpret_borrow<py::object>(entry.key)});
    }
  }
}

py::object SetTable::make() const {
  py::object made = owned(frozen_ ? PyFrozenSet_New(nullptr) : PySet_New(nullptr));
  PySetObject* const set = layout_of(made.ptr());
  if (size_ > PySet_MINSIZE) {
    // Allocated and freed like CPython's own.
    auto* const table = static_cast<setentry*>(PyMem_Calloc(size_, sizeof(setentry)));
    if (table == nullptr) {
      throw std::bad_alloc();
    }
    set->table = table;
  }
  set->mask = static_cast<Py_ssize_t>(size_ - 1);
  set->finger = finger_;
  for (const Key& key : keys_) {
    set->table[key.place] = {Py_NewRef(key.object.ptr()), key.hash};
  }
  for (const auto& [place, mark] : deleted_) {
    set->table[place] = mark;  // its references are not counted
  }
  set->used = static_cast<Py_ssize_t>(keys_.size());
  set->fill = fill_;
  return made;
}

py::object SetTable::make_anew() const {
  py::object made = owned(frozen_ ? PyFrozenSet_New(nullptr) : PySet_New(nullptr));
  for (const Key& key : keys_) {
    // For a frozenset too, while nothing else has seen it.
    check(PySet_Add(made.ptr(), key.object.ptr()));
  }
  return made;
}

}  // namespace ordeal::bindings
