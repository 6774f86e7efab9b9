#include "bindings/simulate/task_state.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/held_objects.h"

namespace ordeal::bindings {
namespace {

struct TaskTypes {
  py::object task;
  py::object record;
  Py_ssize_t number = 0;  // where the slots of a task are
  Py_ssize_t known = 0;
};

// Lives as long as the process; written with the GIL held.
TaskTypes& types() {
  static TaskTypes* const kTypes = std::make_unique<TaskTypes>().release();
  return *kTypes;
}

constexpr std::array kStateObjects{&TaskState::task,      &TaskState::name,  &TaskState::life,
                                   &TaskState::struck_at, &TaskState::owned, &TaskState::met};
using HeldByTask = HeldObjects<TaskState, kStateObjects>;

PyTypeObject* as_type(const py::object& type) noexcept { return reinterpret_cast<PyTypeObject*>(type.ptr()); }

bool is_ours(PyObject* task) noexcept { return types().task && PyObject_TypeCheck(task, as_type(types().task)) != 0; }

PyObject*& slot_at(PyObject* object, Py_ssize_t offset) noexcept {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

Py_ssize_t offset_of_slot(const py::object& type, const char* name) {
  const auto found = owned(PyObject_GetAttrString(type.ptr(), name));
  if (Py_TYPE(found.ptr()) != &PyMemberDescr_Type) {
    throw py::type_error("a task has no slot for what is known of it");
  }
  return reinterpret_cast<PyMemberDescrObject*>(found.ptr())->d_member->offset;
}

extern "C" {

Py_hash_t ordeal_numbered_hash(PyObject* self) noexcept {
  PyObject* const number = is_ours(self) ? slot_at(self, types().number) : nullptr;
  if (number == nullptr) {
    PyErr_SetString(PyExc_TypeError, "an object without a number has no hash");
    return -1;
  }
  return PyObject_Hash(number);
}

}  // extern "C"

}  // namespace

void set_task_types(py::object task_type, py::object record_type) {
  types().number = offset_of_slot(task_type, "number");
  types().known = offset_of_slot(task_type, "record");
  types().task = std::move(task_type);
  types().record = std::move(record_type);
}

const py::object& task_type() noexcept { return types().task; }

py::object made_task(long long number) {
  PyTypeObject* const type = as_type(types().task);
  static PyObject* const kNothing = owned(PyTuple_New(0)).release().ptr();
  auto task = owned(type->tp_new(type, kNothing, nullptr));
  // asyncio asks for the hash at once.
  slot_at(task.ptr(), types().number) = owned(PyLong_FromLongLong(number)).release().ptr();
  return task;
}

py::object known_record(PyObject* task) {
  PyObject* const record = is_ours(task) ? slot_at(task, types().known) : nullptr;
  return record == nullptr || record == Py_None ? py::object() : borrowed(record);
}

py::object made_record(py::object task, py::object name, unsigned long long key, py::object life) {
  PyTypeObject* const type = as_type(types().record);
  auto record = owned(type->tp_alloc(type, 0));
  TaskState& state = state_of(record.ptr());
  state.key = key;
  if (is_ours(task.ptr())) {
    Py_XSETREF(slot_at(task.ptr(), types().known), Py_NewRef(record.ptr()));
  }
  state.task = task.release().ptr();
  state.name = name.release().ptr();
  state.life = life.release().ptr();
  return record;
}

void part(PyObject* record) {
  PyObject* const task = state_of(record).task;
  if (task != nullptr && is_ours(task)) {
    Py_XSETREF(slot_at(task, types().known), Py_NewRef(Py_None));
  }
}

py::object task_state_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 14> members{
        {{"key", Py_T_ULONGLONG, offsetof(TaskState, key), 0, nullptr},
         {"waits", Py_T_LONGLONG, offsetof(TaskState, waits), 0, nullptr},
         {"task", _Py_T_OBJECT, offsetof(TaskState, task), 0, nullptr},
         {"name", _Py_T_OBJECT, offsetof(TaskState, name), 0, nullptr},
         {"life", _Py_T_OBJECT, offsetof(TaskState, life), 0, nullptr},
         {"struck_at", _Py_T_OBJECT, offsetof(TaskState, struck_at), 0, nullptr},
         {"owned", _Py_T_OBJECT, offsetof(TaskState, owned), 0, nullptr},
         {"met", _Py_T_OBJECT, offsetof(TaskState, met), 0, nullptr},
         {"aim", Py_T_INT, offsetof(TaskState, aim), 0, nullptr},
         {"may_be_cancelled", Py_T_BOOL, offsetof(TaskState, may_be_cancelled), 0, nullptr},
         {"is_private", Py_T_BOOL, offsetof(TaskState, is_private), 0, nullptr},
         {"strikes", Py_T_BYTE, offsetof(TaskState, strikes), 0, nullptr},
         {"struck_in_window", Py_T_BOOL, offsetof(TaskState, struck_in_window), 0, nullptr},
         {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 5> slots{{slot(Py_tp_dealloc, HeldByTask::dealloc),
                                      slot(Py_tp_traverse, HeldByTask::traverse),
                                      slot(Py_tp_clear, HeldByTask::clear),
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.TaskState", sizeof(TaskState), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

py::object numbered_type() {
  static PyObject* const kType = [] {
    std::array<PyType_Slot, 2> slots{{slot(Py_tp_hash, ordeal_numbered_hash), {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.Numbered", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

}  // namespace ordeal::bindings
