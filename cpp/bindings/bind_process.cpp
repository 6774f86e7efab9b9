// Binds what a forked process needs of the system.
#include <unistd.h>
#include <csignal>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

// Whether this process is now killed when its parent, which must be `parent`, ends. False when that has ended already,
// or when the system knows no such thing.
bool die_with(pid_t parent) {
#ifdef __linux__
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
#else
  static_cast<void>(parent);
  return false;
#endif
}

}  // namespace

void bind_process(py::module_& m) { m.def("die_with", &die_with, py::arg("parent")); }

}  // namespace ordeal::bindings
