#include "bindings/loop/step_bundles.h"

#include <string>

#include "bindings/cpython/c_api.h"
#include "core/tape/tape.h"

namespace ordeal::bindings {
namespace {

py::object name_of(PyObject* reference) {
  static PyObject* const kName = interned("name");
  return attribute(reference, kName);
}

// Borrowed; null if missing. Only for exact dicts, which every machine has.
PyObject* item(PyObject* dict, PyObject* key) {
  PyObject* const found = PyDict_GetItemWithError(dict, key);
  if (found == nullptr && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return found;
}

py::object value_of(const BundleStore& store, PyObject* reference) {
  const py::object name = name_of(reference);
  PyObject* const value = item(store.values.ptr(), name.ptr());
  // Python words the error for an unknown name.
  return value != nullptr ? py::reinterpret_borrow<py::object>(value)
                          : owned(PyObject_GetItem(store.values.ptr(), name.ptr()));
}

// An empty list counts too: if a bundle holds one, Hypothesis gives the rule another list instead.
bool holds_references(PyObject* list, PyObject* reference_type) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(PyList_GET_ITEM(list, i))) != reference_type) {
      return false;
    }
  }
  return true;
}

}  // namespace

BundleStore BundleStore::of(PyObject* machine) {
  static PyObject* const kBundles = interned("bundles");
  static PyObject* const kCounters = interned("names_counters");
  static PyObject* const kNames = interned("names_list");
  static PyObject* const kValues = interned("names_to_values");
  return {attribute(machine, kBundles), attribute(machine, kCounters), attribute(machine, kNames),
          attribute(machine, kValues)};
}

PyObject* BundleStore::references(const py::object& bundle) const { return item(bundles.ptr(), bundle.ptr()); }

TargetBundle::TargetBundle(py::object bundle, py::object reference_type)
    : bundle_(std::move(bundle)), reference_type_(std::move(reference_type)) {}

std::pair<py::object, py::object> TargetBundle::entry(std::int64_t number) {
  const auto place = static_cast<std::size_t>(number);
  if (number < 0 || place >= kKeptMax) {
    return make(number);
  }
  while (kept_.size() <= place) {
    kept_.push_back(make(static_cast<std::int64_t>(kept_.size())));
  }
  return kept_[place];
}

std::pair<py::object, py::object> TargetBundle::make(std::int64_t number) const {
  py::object name = owned(PyUnicode_FromFormat("%U_%lld", bundle_.ptr(), static_cast<long long>(number)));
  py::object reference = owned(PyObject_CallOneArg(reference_type_.ptr(), name.ptr()));
  return {std::move(name), std::move(reference)};
}

void Producers::made(PyObject* name, std::int64_t producer) {
  const py::object number = owned(PyLong_FromLongLong(producer));
  check(PyDict_SetItem(by_name_.ptr(), name, number.ptr()));
}

std::int64_t Producers::of(PyObject* name) const {
  PyObject* const found = item(by_name_.ptr(), name);
  return found == nullptr ? TapeArgument::kNoProducer : PyLong_AsLongLong(found);
}

std::int64_t Producers::follow(ChoiceSource& source, PyObject* references) const {
  const Py_ssize_t size = PyList_GET_SIZE(references);
  const std::int64_t wanted = source.producer();
  std::int64_t position = 0;
  if (wanted < 0) {
    position = source.position(size);
  } else {
    // If the step that made it is gone, use the newest value instead: the run may fail all the same.
    for (Py_ssize_t at = 0; at < size; ++at) {
      if (of(name_of(PyList_GET_ITEM(references, size - 1 - at)).ptr()) == wanted) {
        position = at;
        break;
      }
    }
    source.put(Choice::integer(position));
  }
  source.set_producer(of(name_of(PyList_GET_ITEM(references, size - 1 - position)).ptr()));
  return position;
}

namespace {

// For one target; `place` counts on through all results of the step.
void add_to_bundle(const BundleStore& store, TargetBundle& target, PyObject* const* results, Py_ssize_t count,
                   const ChoiceSource& source, Producers* producers, std::int64_t& place) {
  auto bundle = py::reinterpret_borrow<py::object>(item(store.bundles.ptr(), target.bundle()));
  if (!bundle) {
    bundle = owned(PyList_New(0));
    check(PyDict_SetItem(store.bundles.ptr(), target.bundle(), bundle.ptr()));
  }
  PyObject* const counter = item(store.counters.ptr(), target.bundle());
  const std::int64_t first = counter == nullptr ? 0 : PyLong_AsLongLong(counter);
  const py::object next = owned(PyLong_FromLongLong(first + count));
  check(PyDict_SetItem(store.counters.ptr(), target.bundle(), next.ptr()));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto [name, reference] = target.entry(first + i);
    check(PyList_Append(store.names.ptr(), name.ptr()));
    check(PyDict_SetItem(store.values.ptr(), name.ptr(), results[i]));
    check(PyList_Append(bundle.ptr(), reference.ptr()));
    if (producers != nullptr) {
      const auto origin = static_cast<std::int64_t>(source.origin());
      producers->made(name.ptr(), (origin << TapeArgument::kPlaceBits) | place++);
    }
  }
}

}  // namespace

void add_to_bundles(const BundleStore& store, std::vector<TargetBundle>& targets, PyObject* result,
                    PyObject* multiple_results_type, ChoiceSource& source, Producers* producers) {
  static PyObject* const kMembers = interned("values");
  std::int64_t place = 0;
  // Not isinstance(): a subclass of MultipleResults is an ordinary value.
  if (reinterpret_cast<PyObject*>(Py_TYPE(result)) != multiple_results_type) {
    for (TargetBundle& target : targets) {
      add_to_bundle(store, target, &result, 1, source, producers, place);
    }
    return;
  }
  const py::object members = attribute(result, kMembers);
  const py::object all = owned(PySequence_Tuple(members.ptr()));
  for (TargetBundle& target : targets) {
    add_to_bundle(store, target, PySequence_Fast_ITEMS(all.ptr()), PyTuple_GET_SIZE(all.ptr()), source, producers,
                  place);
  }
}

py::object resolved(const BundleStore& store, py::object value, PyObject* reference_type) {
  PyTypeObject* const type = Py_TYPE(value.ptr());
  if (reinterpret_cast<PyObject*>(type) == reference_type) {
    return value_of(store, value.ptr());
  }
  if (PyList_Check(value.ptr()) == 0 || !holds_references(value.ptr(), reference_type)) {
    return value;
  }
  const Py_ssize_t size = PyList_GET_SIZE(value.ptr());
  py::object values = owned(PyList_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyList_SET_ITEM(values.ptr(), i, value_of(store, PyList_GET_ITEM(value.ptr(), i)).release().ptr());
  }
  return values;
}

}  // namespace ordeal::bindings
