// How the objects of a type are copied, found out once in a process for each type.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Immutable.
struct ObjectShape {
  enum class Kind : std::uint8_t {
    kAtomic,    // is its own copy
    kInstance,  // attributes and slots, maybe of a list or dict, and nothing else that copying would use
    kZoned,     // a date and time, or a time of day
    kDeque,
    kOrderedDict,
    kDefaultDict,
    kLock,        // of a thread: a plain one or one that its holder may take again
    kCounter,     // itertools.count
    kWeak,        // a weak reference or proxy
    kWeakHolder,  // a set or dictionary of `weakref`
    kModule,
    kDispatched,  // copy.deepcopy has a function for the type
    kHooked,      // has __deepcopy__
    kFinalized,   // does something when it ends, which a copy of it would do as well
    kRemade,      // an instance with its own __reduce__, which mostly says to call the class again
    kReduced,     // by __reduce_ex__
  };

  Kind kind = Kind::kReduced;
  bool has_own_lookup = false;    // an instance may have a hook that its type lacks
  bool has_attributes = false;    // in a dictionary
  std::vector<Py_ssize_t> slots;  // where an instance has them
  PyTypeObject* base = nullptr;   // the builtin type under them: object, list or dict
  py::object function;  // of a dispatched type, or in copyreg's table; for locks, counters and holders, what makes them
};

// For one thread at a time. Finds it again if the type, a base of it, or what is registered for it has changed.
std::shared_ptr<const ObjectShape> shape_of_objects(PyTypeObject* type);

// Has `judge` say of a type with a finalizer whether that touches nothing but its object, which may then be copied.
void judge_finalizers(py::object judge);

// Whether its objects have attributes in a dictionary.
bool has_dict(const PyTypeObject* type) noexcept;

py::object deque_type();
py::object default_dict_type();

}  // namespace ordeal::bindings
