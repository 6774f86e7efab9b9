// What ran in a fork: which locations of the targets were passed, in which order first and how often, so that the
// process that forked it can count this as its own.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ordeal {

// A value type. What a location means for the coverage map depends on earlier runs, which only the reading process
// knows. So the record contains everything, whether silenced in the fork or not.
struct RunRecord {
  enum class Kind : std::uint8_t {
    kEntry,
    kLine,
    kBranch,
    kMetAgain,  // another code object of the same key, in which nothing has been passed
  };

  struct Code {
    std::uint64_t key = 0;
    std::int64_t first_line = 0;
    std::string path;

    friend bool operator==(const Code&, const Code&) = default;
  };

  struct Passage {
    Kind kind = Kind::kEntry;
    std::uint32_t code = 0;  // its index in `codes`
    std::int64_t from = 0;   // of a branch; of a line, its distance from the first line of its code
    std::int64_t to = 0;     // of a branch
    std::uint32_t hits = 0;
    // For the side of a branch taken first: how often, before another was taken. For others 1.
    std::uint32_t leading = 0;

    friend bool operator==(const Passage&, const Passage&) = default;
  };

  std::vector<Code> codes;
  std::vector<Passage> passages;  // in the order of their first time

  [[nodiscard]] std::string encode() const;
  // Throws TraceError for bytes that encode() cannot have made.
  static RunRecord decode(std::string_view bytes);

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// Makes a record. Codes are identified by numbers of the caller. Thread-compatible.
class RunRecorder {
 public:
  void entry(std::uint32_t code) { pass({.kind = RunRecord::Kind::kEntry, .code = code}); }
  void line(std::uint32_t code, std::int64_t line_in_code) {
    pass({.kind = RunRecord::Kind::kLine, .code = code, .from = line_in_code});
  }
  void branch(std::uint32_t code, std::int64_t from, std::int64_t to);
  void met_again(std::uint32_t code);

  // The passages since the last call, with the caller's numbers of their codes.
  std::vector<RunRecord::Passage> take();

 private:
  // For a branch: which side was taken first, and whether another one has been.
  struct Site {
    std::size_t first = 0;  // its index in passages_
    bool is_leading = true;
  };

  std::size_t pass(const RunRecord::Passage& passage);

  std::vector<RunRecord::Passage> passages_;
  tsl::robin_map<std::uint64_t, std::size_t> places_;  // by what is passed
  tsl::robin_map<std::uint64_t, Site> sites_;
};

}  // namespace ordeal
