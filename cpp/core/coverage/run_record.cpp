#include "core/coverage/run_record.h"

#include <limits>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal {
namespace {

// The minimum size of an item, which limits how many of them can follow.
constexpr std::size_t kCodeBytesMin = 10;
constexpr std::size_t kPassageBytesMin = 2;
// More than the code objects of any target, and the passages of a step.
constexpr std::size_t kCodesMax = std::size_t{1} << 20U;
constexpr std::size_t kPassagesMax = std::size_t{1} << 26U;
constexpr std::uint32_t kHitsMax = std::numeric_limits<std::uint32_t>::max();

// Two code objects may branch at the same offset, so the code is part of the key.
std::uint64_t key_of_site(std::uint32_t code, std::int64_t from) {
  return mix64(mix64(code) ^ static_cast<std::uint64_t>(from));
}

// The counts are not part of it: a location that is passed again is the same location.
std::uint64_t key_of(const RunRecord::Passage& passage) {
  return mix64(key_of_site(passage.code, passage.from) ^ mix64(static_cast<std::uint64_t>(passage.to))) ^
         static_cast<std::uint64_t>(passage.kind);
}

// Only what the kind uses is written; most passages are lines, and take three bytes.
void write_passage(ByteWriter& out, const RunRecord::Passage& passage) {
  out.byte(static_cast<std::uint8_t>(passage.kind));
  out.number(passage.code);
  switch (passage.kind) {
    case RunRecord::Kind::kEntry:
      out.number(passage.hits);
      break;
    case RunRecord::Kind::kLine:
      out.integer(passage.from);
      break;
    case RunRecord::Kind::kBranch:
      out.integer(passage.from);
      out.integer(passage.to);
      out.number(passage.hits);
      out.number(passage.leading);
      break;
    case RunRecord::Kind::kMetAgain:
      break;
  }
}

// The bytes come from another process, which runs code of the user's: each number is checked before it is used.
std::uint32_t read_hits(ByteReader& in) {
  const std::uint32_t hits = in.number32("the hits of a location");
  if (hits == 0) {
    throw TraceError("a location that was passed has no hits");
  }
  return hits;
}

// The mirror of write_passage(). What the kind does not use keeps its default, so that equal passages are equal bytes.
RunRecord::Passage read_passage(ByteReader& in, std::size_t codes) {
  RunRecord::Passage passage;
  passage.kind = static_cast<RunRecord::Kind>(
      in.number("a kind of location", static_cast<std::uint64_t>(RunRecord::Kind::kMetAgain)));
  passage.code = in.number32("a code object");
  if (passage.code >= codes) {
    throw TraceError("a code object is number " + std::to_string(passage.code) + " of " + std::to_string(codes));
  }
  passage.hits = 1;
  passage.leading = 1;
  switch (passage.kind) {
    case RunRecord::Kind::kEntry:
      passage.hits = read_hits(in);
      break;
    case RunRecord::Kind::kLine:
      passage.from = in.integer("a line");
      break;
    case RunRecord::Kind::kBranch:
      passage.from = in.integer("a branch");
      passage.to = in.integer("where a branch goes");
      passage.hits = read_hits(in);
      passage.leading = read_hits(in);
      if (passage.leading > passage.hits) {
        throw TraceError("a side of a branch was taken first more often than at all");
      }
      break;
    case RunRecord::Kind::kMetAgain:
      break;
  }
  return passage;
}

}  // namespace

// The code objects come first: a passage refers to them by their number. O(codes + passages).
std::string RunRecord::encode() const {
  ByteWriter out;
  out.number(codes.size());
  for (const Code& code : codes) {
    out.word(code.key);
    out.integer(code.first_line);
    out.text(code.path);
  }
  out.number(passages.size());
  for (const Passage& passage : passages) {
    write_passage(out, passage);
  }
  return std::move(out).take();
}

// Allocates only what the remaining bytes can hold: a count alone cannot make it reserve memory.
RunRecord RunRecord::decode(std::string_view bytes) {
  ByteReader in(bytes);
  RunRecord record;
  record.codes = in.items<Code>("code objects", kCodeBytesMin, kCodesMax, [&] {
    Code code;
    code.key = in.word("a code object");
    code.first_line = in.integer("the first line of a code object");
    code.path = in.text("the file of a code object");
    return code;
  });
  record.passages = in.items<Passage>("locations", kPassageBytesMin, kPassagesMax,
                                      [&] { return read_passage(in, record.codes.size()); });
  in.check_end();
  return record;
}

// Adds the location at its first time and counts each time. The count stays at its maximum, as it does in the map that
// reads it. Returns its place.
std::size_t RunRecorder::pass(const RunRecord::Passage& passage) {
  const auto [place, is_first] = places_.try_emplace(key_of(passage), passages_.size());
  if (is_first) {
    passages_.push_back(passage);
    passages_.back().leading = 1;
  }
  std::uint32_t& hits = passages_[place->second].hits;
  hits += hits < kHitsMax ? 1 : 0;
  return place->second;
}

// The side that was taken first leads until another side is taken. The reader needs to know how often that was: while a
// branch has one side only, its hits are not counted by side.
void RunRecorder::branch(std::uint32_t code, std::int64_t from, std::int64_t to) {
  const std::size_t place = pass({.kind = RunRecord::Kind::kBranch, .code = code, .from = from, .to = to});
  const auto [site, is_first] = sites_.try_emplace(key_of_site(code, from), Site{place, true});
  if (is_first) {
    return;
  }
  site.value().is_leading = site->second.is_leading && site->second.first == place;
  if (site->second.is_leading) {
    passages_[place].leading = passages_[place].hits;
  }
}

// From here on another code object passes the same locations.
void RunRecorder::met_again(std::uint32_t code) {
  places_.clear();
  sites_.clear();
  pass({.kind = RunRecord::Kind::kMetAgain, .code = code});
}

// Forgets the places as well: the next step of the fork starts a new record.
std::vector<RunRecord::Passage> RunRecorder::take() {
  places_.clear();
  sites_.clear();
  return std::exchange(passages_, {});
}

}  // namespace ordeal
