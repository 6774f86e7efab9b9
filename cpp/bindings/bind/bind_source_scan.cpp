// Binds what reads Python source without a parser.
#include <array>
#include <string_view>

#include "bindings/bindings.h"
#include "core/coverage/source_scan.h"

namespace ordeal::bindings {
namespace {

// (kind, name, first, header_last, last, indent, parent), where the kind is "def", "class", "import" or empty: a
// tuple holds no view into source that may be gone.
py::list blocks_of(std::string_view source) {
  constexpr std::array<const char*, 4> kKinds{"def", "class", "", "import"};
  py::list blocks;
  for (const SourceBlock& block : source_blocks(source)) {
    const py::object parent = block.parent == SourceBlock::kNoParent ? py::object(py::none()) : py::int_(block.parent);
    blocks.append(py::make_tuple(kKinds.at(static_cast<std::size_t>(block.kind)), block.name, block.first,
                                 block.header_last, block.last, block.indent, parent));
  }
  return blocks;
}

}  // namespace

void bind_source_scan(py::module_& m) {
  m.def("constant_expressions", &constant_expressions, py::arg("source"));
  m.def("source_blocks", &blocks_of, py::arg("source"));
}

}  // namespace ordeal::bindings
