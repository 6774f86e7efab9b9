#include "bindings/cpython/graph_copy.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/instance_attributes.h"
#include "bindings/cpython/plain_values.h"
#include "bindings/cpython/set_table.h"

namespace ordeal::bindings {
namespace {

// How many objects to reserve space for at once.
constexpr std::size_t kGraphSize = 32;

bool is_container(const PyTypeObject* type) noexcept {
  return type == &PyList_Type || type == &PyDict_Type || type == &PyTuple_Type || type == &PySet_Type ||
         type == &PyFrozenSet_Type || type == &PyByteArray_Type || type == &PyMethod_Type || type == &PyFunction_Type ||
         type == &PyCell_Type || type == &PyCFunction_Type;
}

// Copying recurses with the structure, on the C stack. Too deep structures are refused, as by copy.deepcopy.
class Descent {
 public:
  explicit Descent(StackRoom& room) : room_(room) {
    if (!room.is_left()) {
      PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded while copying an object");
      throw py::error_already_set();
    }
    if (Py_EnterRecursiveCall(" while copying an object") != 0) {
      throw py::error_already_set();
    }
    room.enter();
  }
  ~Descent() {
    room_.leave();
    Py_LeaveRecursiveCall();
  }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

 private:
  StackRoom& room_;
};

void check_size(Py_ssize_t before, PyObject* dictionary) {
  if (PyDict_GET_SIZE(dictionary) != before) {
    PyErr_SetString(PyExc_RuntimeError, "dictionary changed size during iteration");
    throw py::error_already_set();
  }
}

PyObject* deepcopy_name() {
  static PyObject* const kName = interned("__deepcopy__");
  return kName;
}

// What a function holds on to: its cells and what is in them, and its defaults, as in `lambda x, self=self: ...`.
std::vector<py::object> held_by(PyObject* original) {
  std::vector<py::object> held;
  const auto hold = [&](PyObject* object) {
    if (object != nullptr && !is_value(object)) {
      held.push_back(borrowed(object));
    }
  };
  const auto* const function = reinterpret_cast<PyFunctionObject*>(original);
  if (PyObject* const cells = function->func_closure; cells != nullptr) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); ++i) {
      PyObject* const cell = PyTuple_GET_ITEM(cells, i);
      hold(cell);
      hold(PyCell_GET(cell));
    }
  }
  if (PyObject* const defaults = function->func_defaults; defaults != nullptr) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(defaults); ++i) {
      hold(PyTuple_GET_ITEM(defaults, i));
    }
  }
  if (PyObject* const defaults = function->func_kwdefaults; defaults != nullptr) {
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(defaults, &position, &name, &value) != 0) {
      hold(value);
    }
  }
  return held;
}

}  // namespace

void refuse_copy(const char* format, PyObject* object) {
  const py::object error = py::module_::import("copy").attr("Error");
  PyErr_Format(error.ptr(), format, Py_TYPE(object));
  throw py::error_already_set();
}

GraphCopy::GraphCopy(py::dict memo) : memo_(std::move(memo)) {
  copies_.reserve(kGraphSize);
  pairs_.reserve(kGraphSize);
  learn_from_memo();
}

py::object GraphCopy::copy_all(PyObject* original) {
  py::object copied = copy(original);
  while (try_again()) {
    copied = copy(original);
  }
  check_kept_functions();
  return copied;
}

py::object GraphCopy::copy(PyObject* original) {
  if (is_value(original)) {
    return borrowed(original);
  }
  if (PyObject* const copied = known(original); copied != nullptr) {
    return borrowed(copied);
  }
  const Descent descent(room_);
  // A hook of the program may remove it from its container.
  const py::object held = borrowed(original);
  if (is_container(Py_TYPE(original))) {
    return copy_container(original);
  }
  return copy_by(shape_of(Py_TYPE(original)), original);
}

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

const ObjectShape& GraphCopy::shape_of(PyTypeObject* type) {
  if (const auto found = shapes_.find(type); found != shapes_.end()) {
    return *found->second;
  }
  kept_.push_back(borrowed(reinterpret_cast<PyObject*>(type)));
  return *shapes_.emplace(type, shape_of_objects(type)).first->second;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies

py::object GraphCopy::copy_by(const ObjectShape& shape, PyObject* original) {
  switch (shape.kind) {
    case ObjectShape::Kind::kAtomic:
      return borrowed(original);
    case ObjectShape::Kind::kInstance:
      return copy_instance(original, shape);
    case ObjectShape::Kind::kZoned:
      return copy_zoned(original, shape);
    case ObjectShape::Kind::kDeque:
      return copy_deque(original);
    case ObjectShape::Kind::kOrderedDict:
      return copy_ordered_dict(original);
    case ObjectShape::Kind::kDefaultDict:
      return copy_default_dict(original);
    case ObjectShape::Kind::kLock:
      return copy_lock(original, shape);
    case ObjectShape::Kind::kCounter:
      return copy_counter(original, shape);
    case ObjectShape::Kind::kModule:
      return copy_module(original, shape);
    case ObjectShape::Kind::kWeak:
      return copy_weak(original);
    case ObjectShape::Kind::kWeakHolder:
      return copy_weak_holder(original, shape);
    case ObjectShape::Kind::kDispatched:
      return copy_by_function(original, shape.function, py::make_tuple(py::handle(original), memo_));
    case ObjectShape::Kind::kRemade:
      return copy_remade(original, shape);
    case ObjectShape::Kind::kHooked:
    case ObjectShape::Kind::kFinalized:
    case ObjectShape::Kind::kReduced:
      break;
  }
  if (shape.kind == ObjectShape::Kind::kHooked || shape.has_own_lookup) {
    const py::object hook = py::getattr(original, "__deepcopy__", py::none());
    if (!hook.is_none()) {
      return copy_by_hook(original, hook);
    }
  }
  if (shape.kind == ObjectShape::Kind::kFinalized) {
    PyErr_Format(PyExc_TypeError, "a copy of %.200s would end what the original holds", Py_TYPE(original)->tp_name);
    throw py::error_already_set();
  }
  return copy_reduced(original, shape);
}

py::object GraphCopy::copy_container(PyObject* original) {
  const PyTypeObject* const type = Py_TYPE(original);
  if (type == &PyDict_Type) {
    return copy_dict(original);
  }
  if (type == &PyList_Type) {
    return copy_list(original);
  }
  if (type == &PyTuple_Type) {
    return copy_tuple(original);
  }
  if (type == &PyByteArray_Type) {
    py::object copied = owned(PyByteArray_FromObject(original));
    remember(original, copied);
    return copied;
  }
  if (type == &PyMethod_Type) {
    const py::object self = copy(PyMethod_GET_SELF(original));
    py::object copied = owned(PyMethod_New(PyMethod_GET_FUNCTION(original), self.ptr()));
    remember(original, copied);
    return copied;
  }
  if (type == &PyFunction_Type) {
    return copy_function(original);
  }
  if (type == &PyCell_Type) {
    return copy_cell(original);
  }
  if (type == &PyCFunction_Type) {
    return copy_builtin(original);
  }
  return copy_set(original);
}

py::object GraphCopy::copy_list(PyObject* original) {
  const Py_ssize_t size = PyList_GET_SIZE(original);
  Py_ssize_t values = 0;
  while (values < size && is_value(PyList_GET_ITEM(original, values))) {
    ++values;
  }
  py::object copied = owned(PyList_GetSlice(original, 0, values));
  remember(original, copied);
  // The size is read each time: a hook of the program may change the list.
  for (Py_ssize_t i = values; i < PyList_GET_SIZE(original); ++i) {
    check(PyList_Append(copied.ptr(), copy(PyList_GET_ITEM(original, i)).ptr()));
  }
  return copied;
}

py::object GraphCopy::copy_tuple(PyObject* original) {
  const Py_ssize_t size = PyTuple_GET_SIZE(original);
  std::vector<py::object> items;
  items.reserve(static_cast<std::size_t>(size));
  bool changed = false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    items.push_back(copy(PyTuple_GET_ITEM(original, i)));
    changed = changed || items.back().ptr() != PyTuple_GET_ITEM(original, i);
  }
  if (!changed) {
    return borrowed(original);
  }
  // A tuple that contains itself, by way of a list, has been copied meanwhile.
  if (PyObject* const copied = known(original); copied != nullptr) {
    return borrowed(copied);
  }
  py::object copied = owned(PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyTuple_SET_ITEM(copied.ptr(), i, items[static_cast<std::size_t>(i)].release().ptr());
  }
  remember(original, copied);
  return copied;
}

py::object GraphCopy::copy_dict(PyObject* original) {
  py::object copied = owned(PyDict_New());
  remember(original, copied);
  copy_items(original, copied.ptr());
  return copied;
}

template <typename Put>
void GraphCopy::copy_each(PyObject* from, Put put) {
  const Py_ssize_t size = PyDict_GET_SIZE(from);
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(from, &position, &key, &value) != 0) {
    // Held: a hook may remove it from the dictionary while the key is copied.
    const py::object held = borrowed(value);
    const py::object new_key = copy(key);
    put(new_key.ptr(), copy(value).ptr());
    check_size(size, from);
  }
}

void GraphCopy::copy_items(PyObject* from, PyObject* to) {
  copy_each(from, [to](PyObject* key, PyObject* value) { check(PyDict_SetItem(to, key, value)); });
}

py::object GraphCopy::copy_set(PyObject* original) {
  SetTable table(original);
  bool same_places = true;
  for (SetTable::Key& key : table.keys()) {
    if (!is_value(key.object.ptr())) {
      key.object = copy(key.object.ptr());
      const Py_hash_t hash = PyObject_Hash(key.object.ptr());
      check(hash == -1 ? -1 : 0);
      same_places = same_places && hash == key.hash;
    }
  }
  // A set whose elements lead back to it has been copied meanwhile.
  if (PyObject* const copied = known(original); copied != nullptr) {
    return borrowed(copied);
  }
  py::object copied = same_places ? table.make() : table.make_anew();
  remember(original, copied);
  return copied;
}

py::object GraphCopy::copy_function(PyObject* original) {
  const std::vector<py::object> held = held_by(original);
  if (std::ranges::none_of(held, [&](const py::object& each) { return known(each.ptr()) != nullptr; })) {
    closed_over_.insert(closed_over_.end(), held.begin(), held.end());
    return borrowed(original);
  }
  const auto* const function = reinterpret_cast<PyFunctionObject*>(original);
  py::object copied =
      owned(PyFunction_NewWithQualName(function->func_code, function->func_globals, function->func_qualname));
  remember(original, copied);
  const auto with = [&](int (*set)(PyObject*, PyObject*), PyObject* part) {
    if (part != nullptr) {
      check(set(copied.ptr(), copy(part).ptr()));
    }
  };
  with(PyFunction_SetClosure, function->func_closure);
  with(PyFunction_SetDefaults, function->func_defaults);
  with(PyFunction_SetKwDefaults, function->func_kwdefaults);
  if (function->func_dict != nullptr) {
    py::getattr(copied, "__dict__").attr("update")(copy(function->func_dict));
  }
  return copied;
}

py::object GraphCopy::copy_cell(PyObject* original) {
  py::object copied = owned(PyCell_New(nullptr));
  remember(original, copied);
  if (PyObject* const content = PyCell_GET(original); content != nullptr) {
    check(PyCell_Set(copied.ptr(), copy(content).ptr()));
  }
  return copied;
}

py::object GraphCopy::copy_builtin(PyObject* original) {
  PyObject* const self = PyCFunction_GET_SELF(original);
  if (self == nullptr || PyModule_Check(self) != 0 || is_value(self)) {
    return borrowed(original);
  }
  PyObject* const own = known(self);
  if (own == nullptr) {
    closed_over_.push_back(borrowed(self));
    return borrowed(original);
  }
  py::object copied = attribute(own, owned(PyObject_GetAttrString(original, "__name__")).ptr());
  remember(original, copied);
  return copied;
}

// It would change the original, and what was copied of it would not see that.
void GraphCopy::check_kept_functions() const {
  for (const py::object& each : closed_over_) {
    if (known(each.ptr()) != nullptr) {
      refuse_copy("a function that is not copied holds on to an object of type %R that is", each.ptr());
    }
  }
}

py::object GraphCopy::copy_instance(PyObject* original, const ObjectShape& shape) {
  py::object attributes;
  if (shape.has_attributes) {
    attributes = owned(PyObject_GenericGetDict(original, nullptr));
    if (PyDict_GetItemWithError(attributes.ptr(), deepcopy_name()) != nullptr) {
      return copy_by_hook(original, py::getattr(original, "__deepcopy__"));
    }
  }
  PyTypeObject* const type = Py_TYPE(original);
  py::object copied = new_instance(type, shape.base);
  remember(original, copied);
  if (attributes) {
    copy_each(attributes.ptr(),
              [&copied](PyObject* name, PyObject* value) { store_attribute(copied.ptr(), name, value); });
  }
  for (const Py_ssize_t slot : shape.slots) {
    const auto at = [slot](PyObject* object) {
      return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + slot);
    };
    if (PyObject* const value = *at(original); value != nullptr) {
      py::object new_value = copy(value);
      Py_XSETREF(*at(copied.ptr()), new_value.release().ptr());
    }
  }
  // As a plain list or dict: the class's own methods for adding may do more.
  if (shape.base == &PyDict_Type) {
    copy_items(original, copied.ptr());
  } else if (shape.base == &PyList_Type) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(original); ++i) {
      const py::object item = borrowed(PyList_GET_ITEM(original, i));
      check(PyList_Append(copied.ptr(), copy(item.ptr()).ptr()));
    }
  }
  return copied;
}

py::object GraphCopy::copy_by_function(PyObject* original, const py::object& function, const py::tuple& arguments) {
  tell_memo();
  py::object copied = function(*arguments);
  learn_from_memo();
  if (copied.ptr() != original) {
    remember(original, copied);
  }
  return copied;
}

// A hook that gives its attributes to copy.deepcopy has kept what is a function among them.
py::object GraphCopy::copy_by_hook(PyObject* original, const py::object& hook) {
  py::object copied = copy_by_function(original, hook, py::make_tuple(memo_));
  if (copied.ptr() == original || Py_TYPE(copied.ptr()) != Py_TYPE(original) || !has_dict(Py_TYPE(original))) {
    return copied;
  }
  const py::object attributes = owned(PyObject_GenericGetDict(original, nullptr));
  const py::object made = owned(PyObject_GenericGetDict(copied.ptr(), nullptr));
  for (const auto& [name, value] : owned(PyDict_Copy(made.ptr())).cast<py::dict>()) {
    const bool is_function = PyFunction_Check(value.ptr()) != 0 || Py_TYPE(value.ptr()) == &PyCFunction_Type;
    if (is_function && PyDict_GetItemWithError(attributes.ptr(), name.ptr()) == value.ptr()) {
      check(PyDict_SetItem(made.ptr(), name.ptr(), copy(value.ptr()).ptr()));
    }
  }
  return copied;
}

// What its class leaves out, such as a file, may refuse to be copied: then it is rebuilt, as its class says, and so
// are all others of the class. Each of many that hold each other would be tried in both ways otherwise.
py::object GraphCopy::copy_remade(PyObject* original, const ObjectShape& shape) {
  const py::object reduced = py::getattr(original, "__reduce_ex__")(4);
  PyTypeObject* const type = Py_TYPE(original);
  const bool calls_class = PyTuple_Check(reduced.ptr()) != 0 && PyTuple_GET_SIZE(reduced.ptr()) == 2 &&
                           PyTuple_GET_ITEM(reduced.ptr(), 0) == reinterpret_cast<PyObject*>(type);
  if (!calls_class || std::ranges::find(made_anew_, type) != made_anew_.end()) {
    return copy_by_parts(original, reduced);
  }
  const std::pair sizes(pairs_.size(), closed_over_.size());
  try {
    return copy_instance(original, shape);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_RecursionError) || error.matches(PyExc_MemoryError)) {
      throw;
    }
  }
  made_anew_.push_back(type);
  forget_after(sizes.first);
  closed_over_.resize(sizes.second);
  return copy_by_parts(original, reduced);
}

py::object GraphCopy::copy_reduced(PyObject* original, const ObjectShape& shape) {
  return copy_by_parts(
      original, shape.function ? shape.function(py::handle(original)) : py::getattr(original, "__reduce_ex__")(4));
}

py::object GraphCopy::copy_by_parts(PyObject* original, const py::object& reduced) {
  if (PyUnicode_Check(reduced.ptr()) != 0) {
    return borrowed(original);
  }
  if (PyTuple_Check(reduced.ptr()) == 0 || PyTuple_GET_SIZE(reduced.ptr()) < 2 || PyTuple_GET_SIZE(reduced.ptr()) > 5) {
    refuse_copy("un(deep)copyable object of type %R", original);
  }
  // Its parts may be temporary: while they live, no other object has their ids.
  kept_.push_back(reduced);
  return rebuild(original, reduced);
}

py::object GraphCopy::rebuild(PyObject* original, const py::tuple& parts) {
  const auto part = [&](std::size_t i) { return i < parts.size() ? py::object(parts[i]) : py::object(py::none()); };
  py::list arguments;
  for (const py::handle argument : part(1)) {
    arguments.append(copy(argument.ptr()));
  }
  py::object copied = part(0)(*arguments);
  remember(original, copied);
  if (const py::object state = part(2); !state.is_none()) {
    set_state(copied.ptr(), copy(state.ptr()));
  }
  if (const py::object items = part(3); !items.is_none()) {
    for (const py::handle item : items) {
      copied.attr("append")(copy(item.ptr()));
    }
  }
  if (const py::object items = part(4); !items.is_none()) {
    for (const py::handle item : items) {
      const auto [key, value] = item.cast<std::pair<py::object, py::object>>();
      const py::object new_key = copy(key.ptr());
      check(PyObject_SetItem(copied.ptr(), new_key.ptr(), copy(value.ptr()).ptr()));
    }
  }
  return copied;
}

void GraphCopy::set_state(PyObject* copied, const py::object& state) {
  if (const py::object setter = py::getattr(copied, "__setstate__", py::none()); !setter.is_none()) {
    setter(state);
    return;
  }
  py::object attributes = state;
  if (PyTuple_Check(state.ptr()) != 0 && PyTuple_GET_SIZE(state.ptr()) == 2) {
    attributes = borrowed(PyTuple_GET_ITEM(state.ptr(), 0));
    const py::object slots = borrowed(PyTuple_GET_ITEM(state.ptr(), 1));
    if (!slots.is_none()) {
      for (const auto& [name, value] : slots.cast<py::dict>()) {
        check(PyObject_SetAttr(copied, name.ptr(), value.ptr()));
      }
    }
  }
  if (!attributes.is_none()) {
    py::getattr(copied, "__dict__").attr("update")(attributes);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The memo

PyObject* GraphCopy::known(PyObject* original) const {
  const auto found = copies_.find(original);
  return found == copies_.end() ? nullptr : found->second;
}

void GraphCopy::remember(PyObject* original, const py::object& copied) {
  pairs_.emplace_back(borrowed(original), copied);
  copies_[original] = copied.ptr();
}

// The copies are half done. Their originals live as long as the graph does.
void GraphCopy::forget_after(std::size_t count) {
  for (std::size_t i = count; i < pairs_.size(); ++i) {
    const auto& [original, copied] = pairs_[i];
    copies_.erase(original.ptr());
    const py::object id = owned(PyLong_FromVoidPtr(original.ptr()));
    if (i < memoized_ && PyDict_Contains(memo_.ptr(), id.ptr()) == 1) {
      check(PyDict_DelItem(memo_.ptr(), id.ptr()));
    }
    kept_.push_back(copied);
  }
  pairs_.resize(count);
  memoized_ = std::min(memoized_, count);
  memo_size_ = PyDict_GET_SIZE(memo_.ptr());
}

void GraphCopy::tell_memo() {
  for (; memoized_ < pairs_.size(); ++memoized_) {
    const auto& [original, copied] = pairs_[memoized_];
    const py::object id = owned(PyLong_FromVoidPtr(original.ptr()));
    check(PyDict_SetItem(memo_.ptr(), id.ptr(), copied.ptr()));
  }
  memo_size_ = PyDict_GET_SIZE(memo_.ptr());
}

// The memo only grows, at its end; if something was removed, it is read again completely.
void GraphCopy::learn_from_memo() {
  const Py_ssize_t size = PyDict_GET_SIZE(memo_.ptr());
  if (size == memo_size_) {
    return;
  }
  if (size < memo_size_) {
    memo_position_ = 0;
  }
  memo_size_ = size;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(memo_.ptr(), &memo_position_, &key, &value) != 0) {
    if (PyLong_CheckExact(key) == 0) {
      continue;
    }
    void* const original = PyLong_AsVoidPtr(key);
    if (original == nullptr && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      continue;
    }
    kept_.push_back(borrowed(value));
    copies_[original] = value;
  }
}

}  // namespace ordeal::bindings
