// Counts the allocations that the code under test makes in one thread, and makes one of them fail.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "core/base/error.h"

namespace ordeal::bindings {
namespace {

// Each call of these domains holds the GIL. The third domain serves the interpreter itself, which may not survive.
constexpr std::array kDomains = {PYMEM_DOMAIN_OBJ, PYMEM_DOMAIN_MEM};

thread_local bool counts_here = false;

// One for the process, as there is one allocator. It lives as long as the process: others may have wrapped these
// functions meanwhile, and still call them.
struct Counting {
  std::array<PyMemAllocatorEx, kDomains.size()> next{};
  bool is_installed = false;
  py::tuple own;  // the folders whose code does not count: where ordeal and what it runs on lie
  std::uint64_t count = 0;
  std::uint64_t fail_at = 0;      // 0 for none
  PyObject* struck_in = nullptr;  // the code whose allocation failed
  int struck_line = 0;
  PyObject* last_code = nullptr;  // borrowed: only its address is compared
  bool last_is_own = false;
  bool is_quiet = false;  // whether events of sys.monitoring are off in this thread
};

Counting& counting() {
  static auto* const kState = new Counting;
  return *kState;
}

_PyInterpreterFrame* running_frame() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  const PyThreadState* const thread = PyThreadState_GetUnchecked();
  return thread == nullptr ? nullptr : thread->current_frame;
#else
  const PyThreadState* const thread = _PyThreadState_UncheckedGet();
  return thread == nullptr ? nullptr : thread->cframe->current_frame;
#endif
}

bool is_own(const Counting& state, PyObject* code) noexcept {
  if (PyCode_Check(code) == 0) {
    return false;
  }
  PyObject* const file = reinterpret_cast<PyCodeObject*>(code)->co_filename;
  for (const py::handle folder : state.own) {
    // Allocates nothing.
    if (PyUnicode_Tailmatch(file, folder.ptr(), 0, std::numeric_limits<Py_ssize_t>::max(), -1) == 1) {
      return true;
    }
  }
  return false;
}

void be_loud(Counting& state) noexcept {
  if (std::exchange(state.is_quiet, false)) {
    PyThreadState_LeaveTracing(PyThreadState_Get());
  }
}

// Return whether this allocation should fail.
bool fails(Counting& state) noexcept {
  if (!counts_here) {
    return false;
  }
  _PyInterpreterFrame* const frame = running_frame();
  if (frame == nullptr) {
    return false;
  }
  PyObject* const code = PyUnstable_InterpreterFrame_GetCode(frame);
  Py_DECREF(code);  // the frame keeps it
  if (code != state.last_code) {
    state.last_code = code;
    state.last_is_own = is_own(state, code);
  }
  if (state.last_is_own || ++state.count != state.fail_at) {
    return false;
  }
  state.struck_in = Py_NewRef(code);
  state.struck_line = PyUnstable_InterpreterFrame_GetLine(frame);
  be_loud(state);  // the program reaches new code after the failure
  return true;
}

template <std::size_t domain>
const PyMemAllocatorEx& next(void* context) noexcept {
  return static_cast<Counting*>(context)->next[domain];
}

template <std::size_t domain>
PyMemAllocatorEx hook(Counting& state) {
  return {
      &state,
      [](void* context, std::size_t size) -> void* {
        const auto& original = next<domain>(context);
        return fails(*static_cast<Counting*>(context)) ? nullptr : original.malloc(original.ctx, size);
      },
      [](void* context, std::size_t number, std::size_t size) -> void* {
        const auto& original = next<domain>(context);
        return fails(*static_cast<Counting*>(context)) ? nullptr : original.calloc(original.ctx, number, size);
      },
      [](void* context, void* block, std::size_t size) -> void* {
        const auto& original = next<domain>(context);
        return fails(*static_cast<Counting*>(context)) ? nullptr : original.realloc(original.ctx, block, size);
      },
      [](void* context, void* block) {
        const auto& original = next<domain>(context);
        original.free(original.ctx, block);
      },
  };
}

std::array<PyMemAllocatorEx, kDomains.size()> hooks(Counting& state) { return {hook<0>(state), hook<1>(state)}; }

void start(py::tuple own, std::uint64_t fail_at) {
  if (!kHasGil) {
    throw Error("allocations cannot be counted in a Python without the GIL");
  }
  Counting& state = counting();
  if (counts_here || state.is_quiet) {
    throw Error("allocations are being counted already");
  }
  state.own = std::move(own);
  state.count = 0;
  state.fail_at = fail_at;
  state.last_code = nullptr;
  Py_CLEAR(state.struck_in);
  if (!std::exchange(state.is_installed, true)) {
    auto ours = hooks(state);
    for (std::size_t at = 0; at < kDomains.size(); ++at) {
      PyMem_GetAllocator(kDomains[at], &state.next[at]);
      PyMem_SetAllocator(kDomains[at], &ours[at]);
    }
  }
  // Events allocate objects for their arguments, so an observer would shift the numbers of the program's allocations.
  PyThreadState_EnterTracing(PyThreadState_Get());
  state.is_quiet = true;
  counts_here = true;
}

// Return how many allocations there were, and where one failed, if one did.
std::pair<std::uint64_t, std::optional<std::pair<py::object, int>>> stop() {
  counts_here = false;
  Counting& state = counting();
  be_loud(state);
  auto ours = hooks(state);
  bool is_outermost = true;
  for (std::size_t at = 0; at < kDomains.size(); ++at) {
    PyMemAllocatorEx now{};
    PyMem_GetAllocator(kDomains[at], &now);
    is_outermost = is_outermost && now.ctx == &state && now.malloc == ours[at].malloc;
  }
  // If others have wrapped the hooks meanwhile, they stay: their wrappers call them.
  if (state.is_installed && is_outermost) {
    for (std::size_t at = 0; at < kDomains.size(); ++at) {
      PyMem_SetAllocator(kDomains[at], &state.next[at]);
    }
    state.is_installed = false;
  }
  std::optional<std::pair<py::object, int>> struck;
  if (PyObject* const code = std::exchange(state.struck_in, nullptr); code != nullptr) {
    struck.emplace(py::reinterpret_steal<py::object>(code), state.struck_line);
  }
  return {state.count, std::move(struck)};
}

}  // namespace

void bind_allocations(py::module_& m) {
  m.def("start_allocations", &start, py::arg("own"), py::arg("fail_at") = 0);
  m.def("stop_allocations", &stop);
}

}  // namespace ordeal::bindings
