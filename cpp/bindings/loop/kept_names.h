// Keeps what the engine itself looks up by name out of reach of the program under test.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Engine and program share builtins and modules such as `sys`. Between the steps the engine has those names as it knows
// them, while the program's own values are put aside. It costs a comparison as long as the program has replaced none,
// as the interpreter notifies us of changes. For the thread that runs the program.

// From now on, `kept` are the names of the dictionary `space` that the engine needs. Those that the program has put
// there are forgotten at the end of a run if they are `of_run`.
void keep_names(const py::dict& space, const py::dict& kept, bool of_run);

// Give the program its names: code of the program follows.
void lend_names() noexcept;

// Take the names back, and return whether they were lent.
bool take_names() noexcept;

// Ends a run: takes the names back.
void end_names_of_run() noexcept;

// Code of the program runs during the lifetime of this.
class LentNames {
 public:
  LentNames() noexcept { lend_names(); }
  LentNames(const LentNames&) = delete;
  LentNames& operator=(const LentNames&) = delete;
  ~LentNames() { take_names(); }
};

}  // namespace ordeal::bindings
