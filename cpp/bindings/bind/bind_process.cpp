// Binds what a forked process needs of the system.
#include <unistd.h>
#include <csignal>
#include <ctime>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

#ifdef __linux__
// Ends the process group of this process, this one included: with it all that code under test has started.
extern "C" void ordeal_end_group(int /*signal*/) { kill(0, SIGKILL); }

// A signal that no program uses by chance.
int signal_of_group() { return SIGRTMAX - 5; }

bool listens_for_group() {
  struct sigaction action{};
  action.sa_handler = ordeal_end_group;
  return sigaction(signal_of_group(), &action, nullptr) == 0;
}
#endif

// Whether this process is now killed when its parent, which must be `parent`, ends, and with `group` all of its process
// group. False when that has ended already, or when the system knows no such thing.
bool die_with(pid_t parent, bool group) {
#ifdef __linux__
  const int signal = group ? signal_of_group() : SIGKILL;
  return (!group || listens_for_group()) && prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
#else
  static_cast<void>(parent);
  static_cast<void>(group);
  return false;
#endif
}

// Whether from now on this process becomes the parent of those below it that lose theirs.
bool keep_orphans() {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

// What Python's time.monotonic() says, and programs cannot replace, as they do that one to test with clocks of their
// own.
double monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

void bind_process(py::module_& m) {
  m.def("die_with", &die_with, py::arg("parent"), py::kw_only(), py::arg("group") = false);
  m.def("keep_orphans", &keep_orphans);
  m.def("monotonic", &monotonic);
#ifdef __linux__
  m.attr("ORPHANED_SIGNAL") = signal_of_group();  // what comes with `group`
#else
  m.attr("ORPHANED_SIGNAL") = 0;
#endif
}

}  // namespace ordeal::bindings
