// Says whether modules were imported since an earlier moment, for what depends on the table of modules.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Returns an object that is the same as before as long as the number of modules and the one imported last are. Costs a
// comparison if the table was not changed, as the interpreter notifies us of changes. For one thread at a time.
py::object modules_mark();

}  // namespace ordeal::bindings
