// Binds ChoiceSource: the draws that strategies make.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "bindings/bindings.h"
#include "bindings/casts/choice_cast.h"
#include "bindings/thread_cache.h"
#include "core/draw/choice_source.h"
#include "core/draw/value_draws.h"
#include "core/tape/wide_integer.h"

namespace ordeal::bindings {
namespace {

py::object recorded(ChoiceSource& source, int kind) {
  const std::optional<Choice> choice = source.recorded(static_cast<ChoiceKind>(kind));
  return choice ? choice_to_python(*choice) : py::none();
}

py::list recorded_for(const ChoiceSource& source, std::uint32_t name) {
  py::list choices;
  for (const Choice& choice : source.recorded_for(name)) {
    choices.append(choice_to_python(choice));
  }
  return choices;
}

// From intervals as pairs of 32-bit numbers in the machine's byte order. Cached by content; the last one, which a
// strategy requests again and again, is recognised by its object.
const std::shared_ptr<const Alphabet>& alphabet_of(const py::bytes& packed) {
  struct Alphabets {
    tsl::robin_map<std::string, std::shared_ptr<const Alphabet>> known;
    py::bytes packed;  // of the last one
    std::shared_ptr<const Alphabet> last;
  };
  auto& cache = thread_cache<Alphabets>();
  if (packed.is(cache.packed) && cache.last != nullptr) {
    return cache.last;
  }
  std::string content = packed;
  auto& alphabet = cache.known[content];
  if (alphabet == nullptr) {
    std::vector<std::uint32_t> ends(content.size() / sizeof(std::uint32_t));
    if (!ends.empty()) {  // an empty vector may have no memory, and null is not for memcpy
      std::memcpy(ends.data(), content.data(), ends.size() * sizeof(std::uint32_t));
    }
    std::vector<Alphabet::Interval> intervals;
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      intervals.emplace_back(static_cast<char32_t>(ends[i]), static_cast<char32_t>(ends[i + 1]));
    }
    alphabet = std::make_shared<const Alphabet>(std::move(intervals));
  }
  cache.packed = packed;
  cache.last = alphabet;
  return cache.last;
}

py::object open_integer(ChoiceSource& source, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                        std::int64_t toward) {
  return choice_to_python(draw_open_integer(source, low, high, toward));
}

py::object wide_integer(ChoiceSource& source, py::handle low, py::handle high, py::handle toward) {
  return choice_to_python(
      draw_wide_integer(source, wide_from_python(low), wide_from_python(high), wide_from_python(toward)));
}

}  // namespace

void bind_choice_source(py::module_& m) {
  py::class_<ChoiceSource>(m, "ChoiceSource")
      .def("begin_argument", &ChoiceSource::begin_argument, py::arg("name"))
      .def_property_readonly("producer", &ChoiceSource::producer)
      .def("set_producer", &ChoiceSource::set_producer, py::arg("producer"))
      .def_property_readonly("origin", &ChoiceSource::origin)
      .def_property_readonly("live", &ChoiceSource::is_live)
      .def_property_readonly("misaligned", &ChoiceSource::misaligned)
      .def("boolean", &ChoiceSource::boolean, py::arg("p"))
      .def("integer", &ChoiceSource::integer, py::arg("low"), py::arg("high"), py::arg("toward"))
      .def("position", &ChoiceSource::position, py::arg("size"))
      .def("real", &ChoiceSource::real, py::arg("low"), py::arg("high"), py::arg("allow_nan"),
           py::arg("smallest_nonzero"))
      .def(
          "text",
          [](ChoiceSource& self, const py::bytes& intervals, std::int64_t low, std::int64_t high) {
            return choice_to_python(Choice::text(draw_text(self, alphabet_of(intervals), low, high)));
          },
          py::arg("intervals"), py::arg("low"), py::arg("high"))
      .def(
          "bytes",
          [](ChoiceSource& self, std::int64_t low, std::int64_t high) {
            return py::bytes(draw_bytes(self, low, high));
          },
          py::arg("low"), py::arg("high"))
      .def("open_integer", &open_integer, py::arg("low"), py::arg("high"), py::arg("toward"))
      .def("wide_integer", &wide_integer, py::arg("low"), py::arg("high"), py::arg("toward"))
      .def("recorded", &recorded, py::arg("kind"))
      .def("recorded_for", &recorded_for, py::arg("name"))
      .def("misalign", &ChoiceSource::misalign)
      .def(
          "put", [](ChoiceSource& self, py::handle value) { self.put(choice_from_python(value)); }, py::arg("value"))
      .def(
          "note_integer",
          [](ChoiceSource& self, std::int64_t low, std::int64_t high, std::int64_t simplest) {
            self.note({low, high, simplest});
          },
          py::arg("low"), py::arg("high"), py::arg("simplest"))
      .def_property_readonly("notes_spans", &ChoiceSource::notes_spans)
      .def_property_readonly("drawn", [](const ChoiceSource& self) { return self.tape().choice_count(); })
      .def("end_span", &ChoiceSource::end_span, py::arg("begin"))
      // Values that are not choices themselves: parts of one, which the caller records with put().
      .def("raw_unit", [](ChoiceSource& self) { return self.rng().unit(); })
      .def("raw_bits", [](ChoiceSource& self) { return self.rng().next(); })
      .def(
          "raw_below", [](ChoiceSource& self, std::uint64_t bound) { return self.rng().below(bound); },
          py::arg("bound"));
}

}  // namespace ordeal::bindings
