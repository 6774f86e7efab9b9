#include "bindings/compiled/interned_names.h"

namespace ordeal::bindings {

const InternedNames& interned_names() {
  static const InternedNames kNames{.bundles = PyUnicode_InternFromString("bundles"),
                                    .data = PyUnicode_InternFromString("data"),
                                    .depth = PyUnicode_InternFromString("depth"),
                                    .draw = PyUnicode_InternFromString("draw"),
                                    .follow = PyUnicode_InternFromString("follow"),
                                    .frozen = PyUnicode_InternFromString("frozen"),
                                    .hypothesis_runner = PyUnicode_InternFromString("hypothesis_runner"),
                                    .label = PyUnicode_InternFromString("label"),
                                    .length = PyUnicode_InternFromString("length"),
                                    .machine = PyUnicode_InternFromString("machine"),
                                    .mark_invalid = PyUnicode_InternFromString("mark_invalid"),
                                    .mark_overrun = PyUnicode_InternFromString("mark_overrun"),
                                    .name = PyUnicode_InternFromString("name"),
                                    .names_to_values = PyUnicode_InternFromString("names_to_values"),
                                    .observe_as = PyUnicode_InternFromString("observe_as"),
                                    .draw_context = PyUnicode_InternFromString("draw_context")};
  return kNames;
}

}  // namespace ordeal::bindings
