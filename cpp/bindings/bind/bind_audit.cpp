// Binds the audit hook of a process. Behind the fences of a simulation, it asks a Python function about events that
// leave the process. In a worker, it notes the files and addresses that other workers may use as well.
//
// The interpreter has no way to remove an audit hook, so there is one for each process, installed when it is first
// needed. While nobody wants it, it costs two loads and two branches an event.
#include <fcntl.h>

#include <array>
#include <optional>
#include <string_view>

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

// Owned while set; read and written with the GIL held.
PyObject* asked = nullptr;
PyObject* noted = nullptr;
bool installed = false;

// A program that opens ever new files is known well enough by these.
constexpr Py_ssize_t kNotedMax = 1'000;

// Events of sockets are many: the ones that do not reach outside are left to the function.
constexpr std::array<std::string_view, 11> kFenced = {
    "socket.",  "subprocess.", "os.fork",   "os.posix_spawn", "os.system",       "os.exec",
    "os.spawn", "_thread.",    "pty.spawn", "open",           "sqlite3.connect",
};

// Whether the arguments of "open" say that what is in the file may be replaced. Lines that are appended, as to a log,
// do not disturb others; a file that must not exist before is nobody else's.
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

// Adds what the event is about to the set `noted`: a pair of a kind and a path or address.
int note(std::string_view event, PyObject* arguments) {
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
  if (what == nullptr || PyLong_Check(what) || PySet_GET_SIZE(noted) >= kNotedMax) {
    return 0;
  }
  PyObject* const set = Py_NewRef(noted);
  PyObject* const path = PyTuple_Check(what) ? Py_NewRef(what) : PyOS_FSPath(what);
  PyObject* const entry = path == nullptr ? nullptr : Py_BuildValue("(sO)", kind, path);
  const int result = entry == nullptr ? -1 : PySet_Add(set, entry);
  Py_XDECREF(entry);
  Py_XDECREF(path);
  Py_DECREF(set);
  // What is no path and no address, the program hears of where it used it.
  if (result != 0 && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    return 0;
  }
  return result;
}

int hook(const char* event, PyObject* arguments, void* /*data*/) noexcept {
  if (noted != nullptr && note(event, arguments) != 0) [[unlikely]] {
    return -1;
  }
  if (asked == nullptr) [[likely]] {
    return 0;
  }
  const std::string_view name(event);
  for (const std::string_view fenced : kFenced) {
    if (name.starts_with(fenced)) {
      PyObject* const function = Py_NewRef(asked);
      PyObject* const result = PyObject_CallFunction(function, "sO", event, arguments);
      Py_DECREF(function);
      Py_XDECREF(result);
      return result == nullptr ? -1 : 0;
    }
  }
  return 0;
}

void replace(PyObject*& kept, const py::object& object) {
  if (!installed && !object.is_none()) {
    if (PySys_AddAuditHook(&hook, nullptr) != 0) {
      throw py::error_already_set();
    }
    installed = true;
  }
  PyObject* const before = kept;
  kept = object.is_none() ? nullptr : Py_NewRef(object.ptr());
  Py_XDECREF(before);
}

void ask_about_audit_events(const py::object& function) { replace(asked, function); }

void note_outside_use(const std::optional<py::set>& found) {
  replace(noted, found ? py::object(*found) : py::object(py::none()));
}

}  // namespace

void bind_audit(py::module_& m) {
  m.def("ask_about_audit_events", &ask_about_audit_events, py::arg("function"));
  m.def("note_outside_use", &note_outside_use, py::arg("found"));
}

}  // namespace ordeal::bindings
