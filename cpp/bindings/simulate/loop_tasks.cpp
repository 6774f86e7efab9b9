#include "bindings/simulate/loop_tasks.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/ready_queue.h"
#include "bindings/simulate/task_state.h"

namespace ordeal::bindings {
namespace {

// How many texts are kept, and of how many tasks of one name: a program may make any number of them.
constexpr Py_ssize_t kTextsMax = 4096;
constexpr long long kNumbersKept = 64;

// Interned once.
struct TaskNames {
  PyObject* create_task = interned("_create_task");
  PyObject* forget_ended = interned("_forget_ended");
  PyObject* may_be_struck = interned("_may_be_struck");
  PyObject* record_of = interned("record_of");
  PyObject* qualname = interned("__qualname__");
  PyObject* awaited = interned("cr_await");
  PyObject* get_coro = interned("get_coro");
  PyObject* name = interned("name");
  PyObject* loop = interned("loop");
  PyObject* context = interned("context");
  PyObject* done = interned("done");
  PyObject* cancelled = interned("cancelled");
  PyObject* is_dead = interned("is_dead");
  PyObject* log_traceback = interned("_log_traceback");
  PyObject* self = interned("__self__");
};

const TaskNames& task_names() {
  static const TaskNames* const kNames = std::make_unique<TaskNames>().release();
  return *kNames;
}

bool holds(const py::object& object) {
  const int result = PyObject_IsTrue(object.ptr());
  check(result);
  return result != 0;
}

// Texts that are made once. Lives as long as the process; read and written with the GIL held.
class Texts {
 public:
  // What is kept under a key, or what `make` returns.
  py::object of(PyObject* key, const auto& make) {
    PyObject* const found = PyDict_GetItemWithError(kept_, key);
    if (found != nullptr) [[likely]] {
      return borrowed(found);
    }
    if (PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    py::object made = make();
    if (PyDict_GET_SIZE(kept_) >= kTextsMax) {
      PyDict_Clear(kept_);
    }
    check(PyDict_SetItem(kept_, key, made.ptr()));
    return made;
  }

 private:
  PyObject* kept_ = owned(PyDict_New()).release().ptr();
};

template <int kPurpose>
Texts& texts() {
  static Texts* const kTexts = std::make_unique<Texts>().release();
  return *kTexts;
}

// The name that asyncio gives to an unnamed task.
py::object usual_name(long long number) {
  const py::int_ key(number);
  return texts<0>().of(key.ptr(), [&] { return owned(PyUnicode_FromFormat("Task-%lld", number)); });
}

// The name of a task in labels without a number: its own, or that of its function.
py::object base_name(PyObject* coroutine, PyObject* given) {
  const auto asked = [&] {
    const std::array<PyObject*, 2> arguments{coroutine, given};
    return owned(PyObject_Vectorcall(loop_facts().base_name.ptr(), arguments.data(), arguments.size(), nullptr));
  };
  if (PyUnicode_CheckExact(given) != 0 && PyUnicode_GET_LENGTH(given) > 0) {
    return texts<1>().of(given, asked);
  }
  return PyCoro_CheckExact(coroutine) != 0 ? texts<1>().of(attribute(coroutine, task_names().qualname).ptr(), asked)
                                           : asked();
}

// The text of a label, and the number that stands for it.
struct Label {
  py::object text;
  unsigned long long key = 0;
};

py::object label_pair(const py::object& text) {
  return py::make_tuple(text, owned(PyObject_CallOneArg(loop_facts().name_key.ptr(), text.ptr())));
}

Label label_of(PyObject* base, long long number, bool is_own) {
  const auto text = [&] {
    return is_own && number == 0 ? borrowed(base) : owned(PyUnicode_FromFormat("%U#%lld", base, number));
  };
  py::object pair;
  if (number >= kNumbersKept) {
    pair = label_pair(text());
  } else {
    // Names of a coroutine function and given ones differ in the first text alone.
    const long long place = is_own && number == 0 ? kNumbersKept : number;
    const py::object all = texts<2>().of(base, [] { return owned(PyDict_New()); });
    const py::int_ key(place);
    PyObject* const known = PyDict_GetItemWithError(all.ptr(), key.ptr());
    pair = known == nullptr ? label_pair(text()) : borrowed(known);
    if (known == nullptr) {
      check(PyDict_SetItem(all.ptr(), key.ptr(), pair.ptr()));
    }
  }
  const unsigned long long key = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(pair.ptr(), 1));
  return {.text = borrowed(PyTuple_GET_ITEM(pair.ptr(), 0)), .key = key};
}

// How many tasks have had this name; one more from now on.
long long count_name(const ReadyQueue& queue, PyObject* base) {
  PyObject* const found = PyDict_GetItemWithError(queue.names, base);
  const long long number = found == nullptr ? 0 : PyLong_AsLongLong(found);
  if (PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  check(PyDict_SetItem(queue.names, base, py::int_(number + 1).ptr()));
  return number;
}

// Whether a coroutine waits for something, as that of a task does which was begun eagerly.
bool has_begun(PyObject* coroutine) {
  if (PyCoro_CheckExact(coroutine) != 0) {
    return !attribute(coroutine, task_names().awaited).is_none();
  }
  PyObject* const awaited = PyObject_GetAttr(coroutine, task_names().awaited);
  if (awaited == nullptr) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(awaited);
  return awaited != Py_None;
}

// Which faults may cancel a task: only where there are such faults it matters who made it.
void aim_at(PyObject* self, PyObject* coroutine, const py::object& record, bool is_main) {
  const ReadyQueue& queue = queue_of(self);
  TaskState& state = state_of(record.ptr());
  if (queue.has_cancels == 0 || is_main) {
    return;
  }
  const bool is_client =
      is_set(state.life) ? false : running_task(self).ptr() == (is_set(queue.main) ? queue.main : nullptr);
  const std::array<PyObject*, 4> arguments{self, coroutine, state.name, is_client ? Py_True : Py_False};
  const auto judged =
      owned(PyObject_VectorcallMethod(task_names().may_be_struck, arguments.data(), arguments.size(), nullptr));
  const auto [is_private, may_be_cancelled] = judged.cast<std::pair<bool, bool>>();
  state.is_private = is_private ? 1 : 0;
  state.may_be_cancelled = may_be_cancelled ? 1 : 0;
}

py::object in_life(const py::object& name, const py::object& life) {
  return life.is_none()
             ? name
             : owned(PyUnicode_FromFormat("%S/%U", attribute(life.ptr(), task_names().name).ptr(), name.ptr()));
}

bool has_digit(PyObject* text) {
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i) {
    if (Py_UNICODE_ISDIGIT(PyUnicode_READ_CHAR(text, i)) != 0) {
      return true;
    }
  }
  return false;
}

// What people read of a task whose own name says nothing in another run.
py::object shown_name(const ReadyQueue& queue, PyObject* coroutine, PyObject* given, const py::object& life) {
  py::object name = in_life(base_name(coroutine, given), life);
  const auto counted = owned(PyUnicode_FromFormat("=%U", name.ptr()));
  const long long number = count_name(queue, counted.ptr());
  return number == 0 ? name : owned(PyUnicode_FromFormat("%U#%lld", name.ptr(), number));
}

// Decisions know a task by its name, or that of its function, and by how many of that there were before in this run. A
// given name with digits may have a counter of the program in it, which goes on from run to run.
py::object noted(PyObject* self, const py::object& task, PyObject* coroutine, PyObject* given, const py::object& life) {
  ReadyQueue& queue = queue_of(self);
  const bool is_given = PyUnicode_Check(given) != 0 && PyUnicode_GET_LENGTH(given) > 0;
  const bool is_own = is_given && !has_digit(given);
  const py::object base = in_life(base_name(coroutine, is_own ? given : Py_None), life);
  Label label = label_of(base.ptr(), count_name(queue, base.ptr()), is_own);
  const bool is_main = !is_set(queue.main) && queue.has_main != 0;
  py::object name = is_given && !is_own ? shown_name(queue, coroutine, given, life) : std::move(label.text);
  py::object record = made_record(task, std::move(name), label.key, life);
  if (queue.orders != nullptr) {
    state_of(record.ptr()).role = label_of(base.ptr(), 0, /*is_own=*/true).key;
  }
  aim_at(self, coroutine, record, is_main);
  if (PyList_GET_SIZE(queue.records) >= queue.records_max) {
    called(self, task_names().forget_ended);
  }
  check(PyList_Append(queue.records, record.ptr()));
  if (is_main) {
    Py_XSETREF(queue.main, Py_NewRef(task.ptr()));
  }
  if (has_begun(coroutine)) {
    state_of(record.ptr()).waits = 1;
  }
  return record;
}

// What `create_task` was called with.
struct Wanted {
  PyObject* coroutine = nullptr;
  PyObject* name = Py_None;
  PyObject* context = Py_None;
  bool is_usual = false;
};

Wanted wanted(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  Wanted found{.coroutine = count == 1 ? arguments[0] : nullptr, .is_usual = count == 1};
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
    if (PyUnicode_Compare(keyword, task_names().name) == 0) {
      found.name = arguments[count + i];
    } else if (PyUnicode_Compare(keyword, task_names().context) == 0) {
      found.context = arguments[count + i];
    } else {
      found.is_usual = false;
    }
  }
  return found;
}

// Tasks that wait are those of the test, and those of nodes that have not gone.
bool is_waiting(const TaskState& state) {
  if (holds(called(state.task, task_names().done))) {
    return false;
  }
  return !is_set(state.life) || !holds(attribute(state.life, task_names().is_dead));
}

// An error of asyncio's own tasks that was never retrieved: its flag says so at once.
bool is_unhandled(const TaskState& state) {
  const bool is_ours = static_cast<bool>(known_record(state.task));
  if (is_ours && !holds(attribute(state.task, task_names().log_traceback))) {
    return false;
  }
  return holds(called(state.task, task_names().done)) && !holds(called(state.task, task_names().cancelled)) &&
         holds(attribute(state.task, task_names().log_traceback));
}

// Whether a function may be what runs the steps of tasks in Python. Of most that is said by their name.
bool may_be_step(PyObject* function) {
  if (PyFunction_Check(function) == 0) {
    return true;
  }
  PyObject* const name = reinterpret_cast<PyFunctionObject*>(function)->func_name;
  return PyUnicode_CompareWithASCIIString(name, "__step") == 0 ||
         PyUnicode_CompareWithASCIIString(name, "__wakeup") == 0;
}

// Ends when `look` returns false. What it calls may note more tasks.
void for_each_record(PyObject* loop, const auto& look) {
  const auto records = borrowed(queue_of(loop).records);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(records.ptr()); ++i) {
    const py::object record = borrowed(PyList_GET_ITEM(records.ptr(), i));
    if (!look(state_of(record.ptr()))) {
      return;
    }
  }
}

}  // namespace

py::object running_task(PyObject* loop) {
  const auto task = owned(PyObject_CallOneArg(loop_facts().current_task.ptr(), loop));
  return task.is_none() ? py::object() : task;
}

py::object task_of(PyObject* callback) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(callback)) == loop_facts().step_type.ptr()) {
    return attribute(callback, task_names().self);
  }
  if (PyCFunction_CheckExact(callback) != 0) {
    const auto* const method = reinterpret_cast<PyCFunctionObject*>(callback);
    return std::string_view(method->m_ml->ml_name) == "task_wakeup" ? borrowed(method->m_self) : py::object();
  }
  if (PyMethod_Check(callback) != 0 && may_be_step(PyMethod_GET_FUNCTION(callback))) {
    const auto task = owned(PyObject_CallOneArg(loop_facts().stepped_task.ptr(), callback));
    return task.is_none() ? py::object() : task;
  }
  return {};
}

py::object record_of(PyObject* loop, PyObject* task) {
  py::object record = known_record(task);
  if (!record) {
    record = called(loop, task_names().record_of, task);
  }
  if (PyObject_TypeCheck(record.ptr(), reinterpret_cast<PyTypeObject*>(task_state_type().ptr())) == 0) {
    throw py::type_error("the record of a task is not a TaskState");
  }
  return record;
}

py::object new_record(PyObject* loop, PyObject* task, PyObject* given) {
  const py::object coroutine = called(task, task_names().get_coro);
  const py::object life = is_set(queue_of(loop).world) ? owned(PyObject_CallOneArg(loop_facts().life_of.ptr(), task))
                                                       : py::object(py::none());
  return noted(loop, borrowed(task), coroutine.ptr(), given, life);
}

py::object created_task(PyObject* loop, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  ReadyQueue& queue = queue_of(loop);
  const Wanted asked = wanted(arguments, count, keywords);
  if (!asked.is_usual || is_set(queue.task_factory) || queue.is_closed != 0 || queue.is_debugged != 0 ||
      (is_set(asked.context) && is_set(queue.world))) {
    std::vector<PyObject*> given{loop};
    const Py_ssize_t all = count + (keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords));
    given.insert(given.end(), arguments, arguments + all);
    return owned(PyObject_VectorcallMethod(task_names().create_task, given.data(), static_cast<std::size_t>(count) + 1,
                                           keywords));
  }
  const py::object own = is_set(asked.name) ? owned(PyObject_Str(asked.name)) : py::object(py::none());
  py::object task = made_task(++queue.tasks_made);
  const py::object shown = own.is_none() ? usual_name(queue.tasks_made) : own;
  const auto options = owned(PyDict_New());
  check(PyDict_SetItem(options.ptr(), task_names().loop, loop));
  check(PyDict_SetItem(options.ptr(), task_names().name, shown.ptr()));
  if (is_set(asked.context)) {
    check(PyDict_SetItem(options.ptr(), task_names().context, asked.context));
  }
  check(Py_TYPE(task.ptr())->tp_init(task.ptr(), py::make_tuple(borrowed(asked.coroutine)).ptr(), options.ptr()));
  noted(loop, task, asked.coroutine, own.ptr(), present_life(queue.world));
  return task;
}

py::object waiting_tasks(PyObject* loop) {
  py::list found;
  for_each_record(loop, [&](const TaskState& state) {
    if (is_waiting(state)) {
      check(PyList_Append(found.ptr(), state.task));
    }
    return true;
  });
  return found;
}

py::object unhandled_task(PyObject* loop) {
  py::object found = py::none();
  for_each_record(loop, [&](const TaskState& state) {
    if (is_unhandled(state)) {
      found = borrowed(state.task);
    }
    return found.is_none();
  });
  return found;
}

void part_all(PyObject* loop) {
  const auto records = borrowed(queue_of(loop).records);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(records.ptr()); ++i) {
    part(PyList_GET_ITEM(records.ptr(), i));
  }
}

}  // namespace ordeal::bindings
