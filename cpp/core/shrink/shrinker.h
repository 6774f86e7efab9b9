// Makes a failing tape simpler by asking whether simpler ones still fail. It asks; it never runs anything.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/shrink/failing.h"
#include "core/shrink/inquiry.h"
#include "core/shrink/shrink_pass.h"
#include "core/tape/tape.h"

namespace ordeal {

// Thread-compatible. Loop: candidate() until it gives nothing; after each, accept(…) when the candidate failed in the
// same bucket, or refuse(…). The current tape is always one that was seen to fail, so that a loop may end at any time.
//
// The end is reached when no pass helps. What is accepted is always simpler than before (see TapeRank), no tape is
// asked about twice, and a pass asks about finitely many, so that the end is always reached.
class Shrinker {
 public:
  explicit Shrinker(Tape failing);
  Shrinker(const Shrinker&) = delete;
  Shrinker& operator=(const Shrinker&) = delete;

  std::optional<Tape> candidate();
  // `realized` is what ran of the latest candidate, `domains` what its draws allowed, as far as it is known. One that
  // is no simpler than the current tape is not taken.
  void accept(Tape realized, std::vector<Domain> domains = {});
  void refuse();
  // What ran is not asked about again.
  void refuse(Tape realized, std::vector<Domain> domains = {});

  [[nodiscard]] const Tape& current() const noexcept { return current_.tape; }
  [[nodiscard]] std::string_view phase() const noexcept;
  [[nodiscard]] std::uint64_t candidates() const noexcept { return candidates_; }

 private:
  std::optional<Tape> fresh_candidate();
  void next_pass();
  void answered();
  void learn(const Failing& ran);

  Failing current_;
  TapeRank rank_;
  bool knows_domains_ = false;  // of the current tape
  std::vector<std::unique_ptr<ShrinkPass>> passes_;
  std::size_t pass_ = 0;
  std::optional<Inquiry<Tape>> sweep_;
  bool progress_ = false;  // in this round of all passes, which then is not the last
  bool asked_ = false;     // about a candidate that waits for its answer
  tsl::robin_set<std::uint64_t> tried_;
  std::uint64_t candidates_ = 0;
};

}  // namespace ordeal
