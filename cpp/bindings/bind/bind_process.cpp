// Binds system calls that a forked process needs.
#include <unistd.h>
#include <csignal>
#include <ctime>
#include <utility>

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

#include <cerrno>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/loop/kept_names.h"

namespace ordeal::bindings {
namespace {

#ifdef __linux__
// Ends the process group of this process, itself included: with it everything that code under test has started.
extern "C" void ordeal_end_group(int /*signal*/) { kill(0, SIGKILL); }

// A signal that programs are unlikely to use.
int signal_of_group() { return SIGRTMAX - 5; }

bool listens_for_group() {
  struct sigaction action{};
  action.sa_handler = ordeal_end_group;
  return sigaction(signal_of_group(), &action, nullptr) == 0;
}
#endif

// Arranges that this process, and with `group` its process group, is killed when its parent ends, which must be
// `parent`. False when that has ended already, or when the system does not support this.
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

// Makes this process the new parent of descendants that lose theirs; returns whether that worked.
bool keep_orphans() {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

#ifdef __linux__
constexpr std::size_t kStackBytes = 16384;  // the first process of a namespace makes two system calls

// The stacks of processes that share the memory of this one, by their numbers.
std::map<pid_t, std::unique_ptr<std::vector<char>>>& stacks() {
  static std::map<pid_t, std::unique_ptr<std::vector<char>>> found;
  return found;
}

// Sleeps until it is killed, or its parent ends. It shares memory with its parent, so it makes system calls alone.
int sleep_until_killed(void* /*nothing*/) {
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  while (true) {
    syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  }
}

// Starts the first process of a new namespace of processes and returns its number. All others of the namespace end
// with it. No memory is copied, as a fork would do. All signals must be blocked.
pid_t start_first_process() {
  auto stack = std::make_unique<std::vector<char>>(kStackBytes);
  char* top = stack->data() + kStackBytes;
  const pid_t pid = clone(sleep_until_killed, top, CLONE_VM | CLONE_NEWPID | SIGCHLD, nullptr);
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(), "no namespace of processes");
  }
  stacks().emplace(pid, std::move(stack));
  return pid;
}

// Ends a namespace by its first process, and waits until all of its processes are gone.
void end_first_process(pid_t pid) {
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  stacks().erase(pid);
}
#endif

// The time of Python's time.monotonic(), which programs may replace to test with their own clocks.
double monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Leaves this thread `frames` calls of Python from here to its recursion limit, and returns by how many that moved the
// limit. What sys.getrecursionlimit() returns stays.
int lend_frames(int frames) {
  PyThreadState* const thread = PyThreadState_Get();
  const int moved = frames - thread->py_recursion_remaining;
  thread->py_recursion_remaining += moved;
  thread->py_recursion_limit += moved;
  return moved;
}

// Undoes what moved the limit of this thread to `limit`, unless the program has set another one since.
void return_frames(int moved, int limit) {
  PyThreadState* const thread = PyThreadState_Get();
  if (thread->py_recursion_limit == limit) {
    thread->py_recursion_remaining -= moved;
    thread->py_recursion_limit -= moved;
  }
}

}  // namespace

void bind_process(py::module_& m) {
  m.def("die_with", &die_with, py::arg("parent"), py::kw_only(), py::arg("group") = false);
  m.def("keep_orphans", &keep_orphans);
  m.def("monotonic", &monotonic);
  m.def("keep_names", &keep_names, py::arg("space"), py::arg("kept"), py::kw_only(), py::arg("of_run"));
  m.def("lend_names", &lend_names);
  m.def("take_names", &take_names);
  m.def("end_names_of_run", &end_names_of_run);
  // Returns what `return_frames` takes.
  m.def(
      "lend_frames",
      [](int frames) {
        const int moved = lend_frames(frames);
        return std::pair{moved, PyThreadState_Get()->py_recursion_limit};
      },
      py::arg("frames"));
  m.def("return_frames", [](std::pair<int, int> lent) { return_frames(lent.first, lent.second); }, py::arg("lent"));
#ifdef __linux__
  m.def("start_first_process", &start_first_process);
  m.def("end_first_process", &end_first_process, py::arg("pid"), py::call_guard<py::gil_scoped_release>());
  m.attr("ORPHANED_SIGNAL") = signal_of_group();  // sent with `group`
#else
  m.attr("ORPHANED_SIGNAL") = 0;
#endif
}

}  // namespace ordeal::bindings
