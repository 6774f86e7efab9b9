#include "bindings/simulate/handles.h"

#include <memory>
#include <utility>

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {
namespace {

constexpr std::array<const char*, kFieldCount> kFieldNames{
    "_callback", "_args", "_cancelled", "_loop", "_source_traceback", "_repr", "_context", "_when", "_scheduled"};

// Lives as long as the process; written with the GIL held.
KnownFacts& known() {
  static KnownFacts* const kFacts = std::make_unique<KnownFacts>().release();
  return *kFacts;
}

PyObject*& field(PyObject* handle, HandleField which) noexcept {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(handle) + known().offsets[which]);
}

Py_ssize_t offset_in_handle(const char* name) {
  const auto found = py::reinterpret_steal<py::object>(PyObject_GetAttrString(known().timer_type.ptr(), name));
  if (!found || Py_TYPE(found.ptr()) != &PyMemberDescr_Type) {
    PyErr_Clear();
    return -1;
  }
  const PyMemberDef* const member = reinterpret_cast<PyMemberDescrObject*>(found.ptr())->d_member;
  return member->type == Py_T_OBJECT_EX ? member->offset : -1;
}

}  // namespace

const KnownFacts& loop_facts() noexcept { return known(); }

void set_loop_facts(LoopFacts given) {
  static_cast<LoopFacts&>(known()) = std::move(given);
  known().has_slots = true;
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    known().offsets[i] = offset_in_handle(kFieldNames[i]);
    known().has_slots = known().has_slots && known().offsets[i] > 0;
  }
}

py::object field_of(PyObject* handle, HandleField which) {
  if (loop_facts().has_slots) [[likely]] {
    PyObject* const value = field(handle, which);
    return value == nullptr ? py::none() : borrowed(value);
  }
  return owned(PyObject_GetAttrString(handle, kFieldNames[which]));
}

bool is_cancelled(PyObject* handle) {
  return loop_facts().has_slots ? field(handle, kCancelled) == Py_True
                                : field_of(handle, kCancelled).is(py::bool_(true));
}

py::object present_life(const PyObject* world) {
  if (!is_set(world)) {
    return py::none();
  }
  PyObject* life = nullptr;
  check(PyContextVar_Get(loop_facts().life.ptr(), Py_None, &life));
  return py::reinterpret_steal<py::object>(life);
}

py::object packed(PyObject* const* arguments, Py_ssize_t count) {
  auto held = owned(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(held.ptr(), i, Py_NewRef(arguments[i]));
  }
  return held;
}

py::object made_handle(PyObject* loop, PyObject* when, PyObject* function, py::object arguments, PyObject* context,
                       bool by_python) {
  const py::object& kind = when == nullptr ? loop_facts().handle_type : loop_facts().timer_type;
  if (!loop_facts().has_slots || by_python) {
    const std::array<PyObject*, 5> given{when, function, arguments.ptr(), loop, context == nullptr ? Py_None : context};
    const std::size_t skipped = when == nullptr ? 1 : 0;
    return owned(PyObject_Vectorcall(kind.ptr(), given.data() + skipped, given.size() - skipped, nullptr));
  }
  auto own = is_set(context) ? borrowed(context) : owned(PyContext_CopyCurrent());
  auto* const type = reinterpret_cast<PyTypeObject*>(kind.ptr());
  auto handle = owned(type->tp_alloc(type, 0));
  field(handle.ptr(), kCallback) = Py_NewRef(function);
  field(handle.ptr(), kArgs) = arguments.release().ptr();
  field(handle.ptr(), kCancelled) = Py_NewRef(Py_False);
  field(handle.ptr(), kLoop) = Py_NewRef(loop);
  field(handle.ptr(), kTraceback) = Py_NewRef(Py_None);
  field(handle.ptr(), kRepr) = Py_NewRef(Py_None);
  field(handle.ptr(), kContext) = own.release().ptr();
  if (when != nullptr) {
    field(handle.ptr(), kWhen) = Py_NewRef(when);
    field(handle.ptr(), kScheduled) = Py_NewRef(Py_False);
  }
  return handle;
}

}  // namespace ordeal::bindings
