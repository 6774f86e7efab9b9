#include "bindings/cpython/object_shape.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/thread_cache.h"

namespace ordeal::bindings {
namespace {

PyObject* dispatch_table() {
  static PyObject* const kTable = member_of("copy", "_deepcopy_dispatch");
  return kTable;
}

PyObject* copyreg_table() {
  static PyObject* const kTable = member_of("copyreg", "dispatch_table");
  return kTable;
}

// Whether a table of functions has one for the type, which its metaclass may compare as it likes.
bool is_in(PyObject* table, PyObject* type) {
  const int found = PyDict_Contains(table, type);
  check(found);
  return found > 0;
}

bool is_atomic(PyTypeObject* type) noexcept {
  return type == &PyUnicode_Type || type == &PyLong_Type || type == Py_TYPE(Py_None) || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyBytes_Type || type == &PyComplex_Type || type == &PyFunction_Type ||
         type == &PyCFunction_Type || type == &PyRange_Type || type == &PyProperty_Type || type == &PyCode_Type ||
         type == Py_TYPE(Py_Ellipsis) || type == Py_TYPE(Py_NotImplemented) ||
         PyType_IsSubtype(type, &PyType_Type) != 0;
}

// The attribute `name` of the type or its nearest base; null if none has it.
py::object find_in_bases(PyTypeObject* type, const char* name) {
  for (const py::handle base : borrowed(type->tp_mro)) {
    const py::object members = owned(PyType_GetDict(reinterpret_cast<PyTypeObject*>(base.ptr())));
    if (PyObject* const found = PyDict_GetItemString(members.ptr(), name); found != nullptr) {
      return borrowed(found);
    }
  }
  return {};
}

bool is_that_of_object(PyTypeObject* type, const char* name) {
  const py::object found = find_in_bases(type, name);
  return found.is(find_in_bases(&PyBaseObject_Type, name));
}

bool has_slots(PyTypeObject* type) {
  const py::object members = owned(PyType_GetDict(type));
  return PyDict_GetItemString(members.ptr(), "__slots__") != nullptr;
}

// The offsets of an object's slots: for each class with __slots__, the members that CPython made for them.
std::vector<Py_ssize_t> slots_of(PyTypeObject* type) {
  std::vector<Py_ssize_t> slots;
  for (const py::handle base : borrowed(type->tp_mro)) {
    auto* const each = reinterpret_cast<PyTypeObject*>(base.ptr());
    if (each == &PyBaseObject_Type || !has_slots(each)) {
      continue;
    }
    for (const auto& [name, member] : owned(PyType_GetDict(each)).cast<py::dict>()) {
      if (Py_TYPE(member.ptr()) == &PyMemberDescr_Type) {
        const PyMemberDef* const definition = reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member;
        if (definition->type == Py_T_OBJECT_EX) {
          slots.push_back(definition->offset);
        }
      }
    }
  }
  return slots;
}

// Whether objects of the type have room for more than `base`, attributes and slots, as those of classes made in C have.
bool holds_more(PyTypeObject* type, const PyTypeObject* base) {
  const auto pointers = (type->tp_dictoffset > 0 ? 1U : 0U) + (type->tp_weaklistoffset > 0 ? 1U : 0U);
  const auto known = (pointers + slots_of(type).size()) * sizeof(PyObject*);
  return type->tp_basicsize > base->tp_basicsize + static_cast<Py_ssize_t>(known);
}

// Whether objects of the type are only `base`, attributes and slots, with the constructors of `base` and the state of
// object.
bool is_plain(PyTypeObject* type, PyTypeObject* base) {
  if (type->tp_getattro != PyObject_GenericGetAttr || (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) != 0 ||
      type->tp_itemsize != 0 || holds_more(type, base)) {
    return false;
  }
  bool slotted = false;
  for (const py::handle each_base : borrowed(type->tp_mro)) {
    auto* const each = reinterpret_cast<PyTypeObject*>(each_base.ptr());
    if (each == &PyBaseObject_Type || each == base) {
      continue;
    }
    // The content of a class made in C is unknown; one that cannot be called has no tp_new.
    const bool is_made_alike = each->tp_new == base->tp_new || each->tp_new == PyBaseObject_Type.tp_new;
    if ((each->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || !is_made_alike) {
      return false;
    }
    slotted = slotted || has_slots(each);
  }
  if (type->tp_new != base->tp_new) {
    return false;
  }
  if (!is_that_of_object(type, "__getstate__")) {
    return false;
  }
  for (const char* const hook : {"__setstate__", "__getnewargs__", "__getnewargs_ex__"}) {
    if (find_in_bases(type, hook)) {
      return false;
    }
  }
  const py::object attributes = find_in_bases(type, "__dict__");
  return (!attributes || Py_TYPE(attributes.ptr()) == &PyGetSetDescr_Type) &&
         (!slotted || type->tp_setattro == PyObject_GenericSetAttr);
}

// What objects of the type are besides their attributes: exactly an object, a list or a dict.
PyTypeObject* base_of(PyTypeObject* type) noexcept {
  for (PyTypeObject* const base : {&PyList_Type, &PyDict_Type}) {
    if (PyType_IsSubtype(type, base) != 0) {
      return base;
    }
  }
  return &PyBaseObject_Type;
}

// What is as good as its own copy although copy.deepcopy makes another: by module and name. Exactly these types, as a
// subclass may have attributes.
constexpr std::array<std::pair<const char*, const char*>, 5> kImmutable{{{"datetime", "date"},
                                                                         {"datetime", "timedelta"},
                                                                         {"decimal", "Decimal"},
                                                                         {"fractions", "Fraction"},
                                                                         {"uuid", "UUID"}}};
// The same if their time zone is.
constexpr std::array<std::pair<const char*, const char*>, 2> kZoned{{{"datetime", "datetime"}, {"datetime", "time"}}};
// Their content disappears with its last other reference.
constexpr std::array<std::pair<const char*, const char*>, 3> kWeakHolders{
    {{"weakref", "WeakSet"}, {"weakref", "WeakKeyDictionary"}, {"weakref", "WeakValueDictionary"}}};

bool is_weak(const PyTypeObject* type) noexcept {
  return type == &_PyWeakref_RefType || type == &_PyWeakref_ProxyType || type == &_PyWeakref_CallableProxyType;
}

template <std::size_t kCount>
bool is_one_of(PyTypeObject* type, const std::array<std::pair<const char*, const char*>, kCount>& names) {
  return std::ranges::any_of(names, [type](const auto& name) {
    // A module that is not imported has made no objects.
    PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), name.first);
    const py::object found = module == nullptr ? py::none() : py::getattr(module, name.second, py::none());
    return found.ptr() == reinterpret_cast<PyObject*>(type);
  });
}

// What makes locks and counters, by type. Exactly these types.
PyObject* maker_of_locks(PyTypeObject* type) {
  static PyObject* const kMake = member_of("_thread", "allocate_lock");
  static PyObject* const kMakeReentrant = member_of("_thread", "RLock");
  static PyTypeObject* const kLock = Py_TYPE(py::reinterpret_borrow<py::object>(kMake)().release().ptr());
  if (type == kLock) {
    return kMake;
  }
  return reinterpret_cast<PyObject*>(type) == kMakeReentrant ? kMakeReentrant : nullptr;
}

PyObject* counter_type() {
  static PyObject* const kType = member_of("itertools", "count");
  return kType;
}

// Types made in C, such as generators, refuse to be copied with their own message.
bool has_finalizer(PyTypeObject* type) {
  const py::object finalizer = find_in_bases(type, "__del__");
  return finalizer && Py_TYPE(finalizer.ptr()) != &PyWrapperDescr_Type;
}

py::object& judge_of_finalizers() {
  static auto* const kJudge = new py::object();  // outlives the interpreter's end
  return *kJudge;
}

// Whether what the judge knows of the finalizer says that it does no harm.
bool is_harmless(PyTypeObject* type) {
  return judge_of_finalizers() && judge_of_finalizers()(py::handle(reinterpret_cast<PyObject*>(type))).cast<bool>();
}

// Whether objects of the type end something that they hold only the number or the name of: a copy made of their
// attributes would close the file, or delete the folder, that the original still uses. A class that says how its
// objects are pickled has thought of that.
bool is_finalized(PyTypeObject* type) {
  static PyObject* const kFinalize = member_of("weakref", "finalize");
  if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(kFinalize)) != 0) {
    return true;
  }
  return has_finalizer(type) && is_that_of_object(type, "__reduce__") && is_that_of_object(type, "__reduce_ex__") &&
         is_that_of_object(type, "__getstate__") && !is_harmless(type);
}

// Shapes that were found in earlier copies, by type. A type has another version whenever it, or a base of it, has
// changed, and no other type ever has the same; so nothing is held.
class KnownShapes {
 public:
  // Null if the shape is not known, or if the type has changed.
  std::shared_ptr<const ObjectShape> find(PyTypeObject* type) const {
    const auto found = shapes_.find(type);
    const bool is_same = found != shapes_.end() && found->second.version == type->tp_version_tag;
    return is_same ? found->second.shape : nullptr;
  }
  void add(PyTypeObject* type, std::shared_ptr<const ObjectShape> shape) {
    // A type that has changed too often gets no version any more.
    if (PyUnstable_Type_AssignVersionTag(type) == 0 || type->tp_version_tag == 0) {
      return;
    }
    if (shapes_.size() >= kShapesMax) {
      shapes_.clear();
    }
    shapes_[type] = {type->tp_version_tag, std::move(shape)};
  }

 private:
  static constexpr std::size_t kShapesMax = 4096;

  struct Known {
    unsigned int version = 0;
    std::shared_ptr<const ObjectShape> shape;
  };

  tsl::robin_map<PyTypeObject*, Known> shapes_;
};

// Whether a `__deepcopy__` does nothing but return the object, as that of an Enum does: hundreds of its members may be
// in one state.
bool returns_its_object(const py::object& hook) {
  static PyObject* const kReturns = [] {
    const py::dict names;
    return owned(PyRun_String("lambda self, memo: self", Py_eval_input, names.ptr(), names.ptr())).release().ptr();
  }();
  if (!hook || PyFunction_Check(hook.ptr()) == 0) {
    return false;
  }
  auto* const code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(hook.ptr()));
  auto* const other = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(kReturns));
  return code->co_argcount == other->co_argcount && owned(PyCode_GetCode(code)).equal(owned(PyCode_GetCode(other)));
}

std::shared_ptr<const ObjectShape> find_shape(PyTypeObject* type) {
  const auto shape = std::make_shared<ObjectShape>();
  const py::handle key(reinterpret_cast<PyObject*>(type));
  const bool is_dispatched = is_in(dispatch_table(), key.ptr());
  if (is_atomic(type) || (is_one_of(type, kImmutable) && !is_dispatched)) {
    shape->kind = ObjectShape::Kind::kAtomic;
  } else if (is_weak(type)) {
    shape->kind = ObjectShape::Kind::kWeak;
  } else if (is_one_of(type, kWeakHolders)) {
    shape->kind = ObjectShape::Kind::kWeakHolder;
    shape->function = borrowed(key.ptr());
  } else if (is_dispatched) {
    shape->kind = ObjectShape::Kind::kDispatched;
    shape->function = borrowed(PyDict_GetItemWithError(dispatch_table(), key.ptr()));
  } else if (is_one_of(type, kZoned)) {
    shape->kind = ObjectShape::Kind::kZoned;
  } else if (const py::object hook = find_in_bases(type, "__deepcopy__"); hook) {
    shape->kind = returns_its_object(hook) ? ObjectShape::Kind::kAtomic : ObjectShape::Kind::kHooked;
  } else if (is_in(copyreg_table(), key.ptr())) {
    shape->function = borrowed(PyDict_GetItemWithError(copyreg_table(), key.ptr()));
  } else if (key.is(deque_type())) {
    shape->kind = ObjectShape::Kind::kDeque;
  } else if (key.is(default_dict_type())) {
    shape->kind = ObjectShape::Kind::kDefaultDict;
  } else if (type == &PyODict_Type) {
    shape->kind = ObjectShape::Kind::kOrderedDict;
  } else if (PyObject* const maker = maker_of_locks(type); maker != nullptr) {
    shape->kind = ObjectShape::Kind::kLock;
    shape->function = borrowed(maker);
  } else if (key.is(borrowed(counter_type()))) {
    shape->kind = ObjectShape::Kind::kCounter;
    shape->function = borrowed(counter_type());
  } else if (PyType_IsSubtype(type, &PyModule_Type) != 0) {
    shape->kind = ObjectShape::Kind::kModule;
  } else if (is_finalized(type)) {
    shape->kind = ObjectShape::Kind::kFinalized;
  } else if (PyTypeObject* const base = base_of(type); is_plain(type, base)) {
    const bool is_reduced_alike = is_that_of_object(type, "__reduce__") && is_that_of_object(type, "__reduce_ex__");
    // An object with a finalizer is only rebuilt: a copy by attributes would release what the original holds.
    shape->kind = is_reduced_alike      ? ObjectShape::Kind::kInstance
                  : has_finalizer(type) ? ObjectShape::Kind::kReduced
                                        : ObjectShape::Kind::kRemade;
    shape->base = base;
    shape->has_attributes = has_dict(type);
    shape->slots = slots_of(type);
  }
  shape->has_own_lookup = type->tp_getattro != PyObject_GenericGetAttr;
  return shape;
}

}  // namespace

bool has_dict(const PyTypeObject* type) noexcept {
  return type->tp_dictoffset != 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0;
}

py::object deque_type() {
  static PyObject* const kType = member_of("collections", "deque");
  return borrowed(kType);
}

py::object default_dict_type() {
  static PyObject* const kType = member_of("collections", "defaultdict");
  return borrowed(kType);
}

void judge_finalizers(py::object judge) { judge_of_finalizers() = std::move(judge); }

std::shared_ptr<const ObjectShape> shape_of_objects(PyTypeObject* type) {
  auto& known = thread_cache<KnownShapes>();
  auto* const key = reinterpret_cast<PyObject*>(type);
  // A program may register a function for a type at any time.
  const bool is_registered = is_in(dispatch_table(), key) || is_in(copyreg_table(), key);
  if (is_registered) {
    return find_shape(type);
  }
  std::shared_ptr<const ObjectShape> shape = known.find(type);
  if (shape == nullptr) {
    shape = find_shape(type);
    known.add(type, shape);
  }
  return shape;
}

}  // namespace ordeal::bindings
