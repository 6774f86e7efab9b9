// Binds the audit hook of a process. Behind the fences of a simulation, it asks a Python function about events that
// leave the process. In a worker, it notes the files and addresses that other workers may use as well.
//
// The interpreter has no way to remove an audit hook, so there is one for each process, installed when it is first
// needed. While it is not needed, it costs two loads and two branches per event.
#include <fcntl.h>

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "bindings/bindings.h"
#include "core/base/shared.h"

namespace ordeal::bindings {
namespace {

// What an audit hook uses. Any thread may ask for it while another replaces it. Lives as long as the process.
class HookTarget {
 public:
  [[nodiscard]] bool is_set() const noexcept { return object_ != nullptr; }
  // Empty if there is none by now.
  py::object get() {
    const std::scoped_lock lock(mutex_);
    return py::reinterpret_borrow<py::object>(object_);
  }
  // Returns what was there, for the caller to release.
  py::object replace(py::object object) {
    const std::scoped_lock lock(mutex_);
    auto before = py::reinterpret_steal<py::object>(object_);
    object_ = object.is_none() ? nullptr : object.release().ptr();
    return before;
  }

 private:
  std::mutex mutex_;
  Shared<PyObject*> object_ = nullptr;
};

HookTarget asked;
HookTarget noted;
bool installed = false;  // only one thread explores

// A program that opens ever new files is known well enough by these.
constexpr Py_ssize_t kNotedMax = 1'000;

// Events of sockets are many: the ones that do not reach outside are left to the function.
constexpr std::array<std::string_view, 11> kFenced = {
    "socket.",  "subprocess.", "os.fork",   "os.posix_spawn", "os.system",       "os.exec",
    "os.spawn", "_thread.",    "pty.spawn", "open",           "sqlite3.connect",
};

// Whether the arguments of "open" say that what is in the file may be replaced. Lines that are appended, as to a log,
// do not disturb others; a file that must not exist before belongs to this process.
bool replaces_content(PyObject* arguments) {
  if (PyTuple_GET_SIZE(arguments) < 3 || !PyLong_Check(PyTuple_GET_ITEM(arguments, 2))) {
    return false;
  }
  const long flags = PyLong_AsLong(PyTuple_GET_ITEM(arguments, 2));
  if (flags == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  return (flags & O_ACCMODE) != O_RDONLY && (flags & (O_APPEND | O_EXCL)) == 0;
}

// Adds what the event is about to the set: a pair of a kind and a path or address.
int note(std::string_view event, PyObject* arguments, const py::object& set) {
  PyObject* what = nullptr;
  const char* kind = "file";
  const Py_ssize_t size = PyTuple_GET_SIZE(arguments);
  if (event == "open" && replaces_content(arguments)) {
    what = PyTuple_GET_ITEM(arguments, 0);
  } else if (event == "sqlite3.connect" && size > 0) {
    kind = "database";
    what = PyTuple_GET_ITEM(arguments, 0);
  } else if ((event == "socket.bind" || event == "socket.connect") && size > 1) {
    kind = event == "socket.bind" ? "bind" : "connect";
    what = PyTuple_GET_ITEM(arguments, 1);
  }
  if (what == nullptr || PyLong_Check(what) || PySet_Size(set.ptr()) >= kNotedMax) {
    return 0;
  }
  PyObject* const path = PyTuple_Check(what) ? Py_NewRef(what) : PyOS_FSPath(what);
  PyObject* const entry = path == nullptr ? nullptr : Py_BuildValue("(sO)", kind, path);
  const int result = entry == nullptr ? -1 : PySet_Add(set.ptr(), entry);
  Py_XDECREF(entry);
  Py_XDECREF(path);
  // An argument that is neither a path nor an address raises where the program used it.
  if (result != 0 && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    return 0;
  }
  return result;
}

int hook(const char* event, PyObject* arguments, void* /*data*/) noexcept {
  if (noted.is_set()) [[unlikely]] {
    const py::object set = noted.get();
    if (set && note(event, arguments, set) != 0) {
      return -1;
    }
  }
  if (!asked.is_set()) [[likely]] {
    return 0;
  }
  const std::string_view name(event);
  for (const std::string_view fenced : kFenced) {
    if (name.starts_with(fenced)) {
      const py::object function = asked.get();
      if (!function) {
        return 0;
      }
      PyObject* const result = PyObject_CallFunction(function.ptr(), "sO", event, arguments);
      Py_XDECREF(result);
      return result == nullptr ? -1 : 0;
    }
  }
  return 0;
}

void replace(HookTarget& target, py::object object) {
  if (!installed && !object.is_none()) {
    if (PySys_AddAuditHook(&hook, nullptr) != 0) {
      throw py::error_already_set();
    }
    installed = true;
  }
  const py::object before = target.replace(std::move(object));
}

void ask_about_audit_events(py::object function) { replace(asked, std::move(function)); }

void note_outside_use(const std::optional<py::set>& found) {
  replace(noted, found ? py::object(*found) : py::object(py::none()));
}

}  // namespace

void bind_audit(py::module_& m) {
  m.def("ask_about_audit_events", &ask_about_audit_events, py::arg("function"));
  m.def("note_outside_use", &note_outside_use, py::arg("found"));
}

}  // namespace ordeal::bindings
