// Binds the audit hook behind the fences of a simulation: it asks a Python function about events that leave the
// process.
//
// The interpreter has no way to remove an audit hook, so there is one for each process, installed when a simulation
// first needs it. Outside of simulations it costs one load and one branch an event.
#include <array>
#include <string_view>

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

// Owned while set; read and written with the GIL held.
PyObject* asked = nullptr;
bool installed = false;

// Events of sockets are many: the ones that do not reach outside are left to the function.
constexpr std::array<std::string_view, 11> kFenced = {
    "socket.",  "subprocess.", "os.fork",   "os.posix_spawn", "os.system",       "os.exec",
    "os.spawn", "_thread.",    "pty.spawn", "open",           "sqlite3.connect",
};

int hook(const char* event, PyObject* arguments, void* /*data*/) noexcept {
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

void ask_about_audit_events(const py::object& function) {
  if (!installed && !function.is_none()) {
    if (PySys_AddAuditHook(&hook, nullptr) != 0) {
      throw py::error_already_set();
    }
    installed = true;
  }
  PyObject* const before = asked;
  asked = function.is_none() ? nullptr : Py_NewRef(function.ptr());
  Py_XDECREF(before);
}

}  // namespace

void bind_audit(py::module_& m) { m.def("ask_about_audit_events", &ask_about_audit_events, py::arg("function")); }

}  // namespace ordeal::bindings
