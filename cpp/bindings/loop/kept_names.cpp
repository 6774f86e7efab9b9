#include "bindings/loop/kept_names.h"

#include <atomic>
#include <vector>

namespace ordeal::bindings {
namespace {

// Lives as long as the process, like the dictionaries.
struct Space {
  PyObject* names;
  PyObject* kept;
  PyObject* theirs;  // what the program has instead; `kept` itself for a name that it has deleted
  bool of_run;
};

std::vector<Space>& spaces() {
  static auto* const kSpaces = new std::vector<Space>();
  return *kSpaces;
}

std::atomic<bool> is_changed = false;  // by any thread
bool are_watched = true;
bool are_lent = false;
bool are_put_aside = false;

extern "C" int ordeal_names_changed(PyDict_WatchEvent event, PyObject* dict, PyObject* key,
                                    PyObject* /*value*/) noexcept {
  const bool is_of_name =
      event == PyDict_EVENT_ADDED || event == PyDict_EVENT_MODIFIED || event == PyDict_EVENT_DELETED;
  for (const Space& space : spaces()) {
    // Programs set others all the time, such as sys.stdout.
    if (space.names == dict && (!is_of_name || PyDict_Contains(space.kept, key) != 0)) {
      is_changed = true;
    }
  }
  return 0;
}

void put_aside(const Space& space) noexcept {
  PyObject* name = nullptr;
  PyObject* ours = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(space.kept, &position, &name, &ours) != 0) {
    PyObject* const theirs = PyDict_GetItemWithError(space.names, name);
    if (theirs != ours) {
      PyDict_SetItem(space.theirs, name, theirs == nullptr ? space.kept : theirs);
      PyDict_SetItem(space.names, name, ours);
    }
  }
}

void put_back(const Space& space) noexcept {
  PyObject* name = nullptr;
  PyObject* theirs = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(space.theirs, &position, &name, &theirs) != 0) {
    theirs == space.kept ? PyDict_DelItem(space.names, name) : PyDict_SetItem(space.names, name, theirs);
  }
  PyDict_Clear(space.theirs);
}

}  // namespace

void keep_names(const py::dict& space, const py::dict& kept, bool of_run) {
  static const int kWatcher = PyDict_AddWatcher(ordeal_names_changed);
  if (kWatcher < 0 || PyDict_Watch(kWatcher, space.ptr()) < 0) {
    PyErr_Clear();  // other extensions have taken all watchers
    are_watched = false;
  }
  for (Space& each : spaces()) {
    if (each.names == space.ptr()) {
      Py_SETREF(each.kept, Py_NewRef(kept.ptr()));
      return;
    }
  }
  spaces().push_back({Py_NewRef(space.ptr()), Py_NewRef(kept.ptr()), PyDict_New(), of_run});
}

void lend_names() noexcept {
  are_lent = true;
  if (are_put_aside) [[unlikely]] {
    are_put_aside = false;
    for (const Space& space : spaces()) {
      put_back(space);
    }
  }
}

bool take_names() noexcept {
  const bool were_lent = are_lent;
  are_lent = false;
  if (is_changed || !are_watched) [[unlikely]] {
    PyObject* const raised = PyErr_GetRaisedException();
    for (const Space& space : spaces()) {
      put_aside(space);
      are_put_aside = are_put_aside || PyDict_GET_SIZE(space.theirs) > 0;
    }
    is_changed = false;
    PyErr_SetRaisedException(raised);
  }
  return were_lent;
}

void end_names_of_run() noexcept {
  take_names();
  for (const Space& space : spaces()) {
    if (space.of_run) {
      PyDict_Clear(space.theirs);
    }
  }
}

}  // namespace ordeal::bindings
