// Where the values of a step come from: drawn at random or read from a tape. Either way they are recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/draw/dictionary.h"
#include "core/tape/choice.h"
#include "core/tape/constraint.h"
#include "core/tape/journal.h"
#include "core/tape/span.h"
#include "core/tape/tape.h"

namespace ordeal {

// Writes a tape that its owner (a Session or a Replay) keeps. Nothing else writes to it, so a journal misses nothing.
// The owner says where steps begin; draws belong to the last step.
// Live, a draw takes a value from the generator. Replaying, it takes the next recorded choice of the argument. If none
// fits (the code changed, or the tape was edited), it repairs it - a number out of bounds becomes the nearest bound,
// everything else the simplest value - and counts a misalignment, so that every run continues and the caller can tell.
// What the last step draws beyond its record does not count: the recorded run may have failed before.
class ChoiceSource {
 public:
  // `notes`, if given, receives the constraint of each replayed draw, and all spans; it must outlive the source.
  explicit ChoiceSource(Tape& out, DrawNotes* notes = nullptr) noexcept : out_(&out), notes_(notes) {}

  // Sets where the choices of the next steps come from. `recorded` must outlive the steps.
  void live(Rng rng) noexcept;
  // Live, but mutating from a step that led somewhere: an argument begins with that step's choices, slightly changed,
  // where they fit the constraints. Ends with the next call of live(), replay() or stop_mutating().
  void mutate_from(const Tape& model, const TapeStep& step) noexcept;
  void stop_mutating() noexcept;
  // From here on, live draws that would hardly repeat a value by chance do so with probability `prob`: one drawn
  // earlier in the run, or one of `dictionary`, which must outlive the source.
  void reuse(const Dictionary& dictionary, double prob) noexcept {
    ORDEAL_DCHECK(prob >= 0 && prob <= 1, "prob=" << prob);
    dictionary_ = prob > 0 ? &dictionary : nullptr;
    reuse_prob_ = prob;
  }
  // From here on, a live draw is the simplest with probability `prob`, unless an earlier one is changed: numbers are
  // what they shrink towards, and collections short.
  void simplify(double prob) noexcept {
    ORDEAL_DCHECK(prob >= 0 && prob < 1, "prob=" << prob);
    simplest_prob_ = prob;
  }
  void replay(const Tape& recorded, const TapeStep& step) noexcept;

  // Journals all that is written from now on, or nothing. `in_run`: a run is under way, which begins in the new journal
  // with the tape so far, and ends in the old one.
  void set_journal(std::shared_ptr<Journal> journal, bool in_run) noexcept;
  [[nodiscard]] const std::shared_ptr<Journal>& journal() const noexcept { return journal_; }

  // For the owner. The tape is empty when a run begins; the first `steps` of `prefix` are what the run
  // continues from.
  void begin_run() noexcept;
  void take_prefix(const Tape& prefix, std::size_t steps);
  void begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin) {
    out_->begin_step(kind, target, origin);
    if (journal_ != nullptr) [[unlikely]] {
      journal_->begin_step(kind, target, origin);
    }
  }
  void drop_step();
  void end_run() noexcept;

  void begin_argument(std::uint32_t name);
  // Replaying: the step that made the value of the current argument, or TapeArgument::kNoProducer.
  [[nodiscard]] std::int64_t producer() const noexcept { return producer_; }
  void set_producer(std::int64_t producer);
  // The origin of the current step.
  [[nodiscard]] std::uint32_t origin() const { return out_->last_step().origin; }

  [[nodiscard]] bool is_live() const noexcept { return recorded_ == nullptr; }
  // Replaying: the choices recorded for an argument of the current step, whether it has begun or not.
  [[nodiscard]] std::span<const Choice> recorded_for(std::uint32_t name) const noexcept;
  [[nodiscard]] std::uint64_t misaligned() const noexcept { return misaligned_; }
  void reset_misaligned() noexcept { misaligned_ = 0; }
  [[nodiscard]] Rng& rng() noexcept { return rng_; }
  // The written tape.
  [[nodiscard]] const Tape& tape() const noexcept { return *out_; }

  // Recorded draws. `low <= high`, where -0.0 is below 0.0; `toward` is the simplest value and is clamped to the
  // bounds.
  bool boolean(double p);
  std::int64_t integer(std::int64_t low, std::int64_t high, std::int64_t toward);
  // A position in a collection of the run (0 is the newest); `size > 0`.
  std::int64_t position(std::int64_t size);
  double real(double low, double high, bool allow_nan, double smallest_nonzero);

  // For kinds whose constraints the core does not know (strings over an alphabet, huge integers): the next recorded
  // choice of that kind, or nothing. Live, it is a value to use instead of a new one, and mostly nothing. The caller
  // checks it, then records the value used with `put`, after `misalign` if it could not use it.
  std::optional<Choice> recorded(ChoiceKind kind);
  void put(Choice choice) {
    out_->add(std::move(choice));
    if (journal_ != nullptr) [[unlikely]] {
      journal_->add(out_->choices().back());
    }
  }
  void misalign() noexcept { ++misaligned_; }
  // Replaying: the constraint of the choice that is put next.
  void note(const Constraint& constraint) {
    if (notes_ != nullptr) {
      notes_->constraints.emplace_back(out_->choice_count(), constraint);
    }
  }
  // Replaying: the integer that was drawn last selects something.
  void note_selection() noexcept {
    if (notes_ != nullptr && !notes_->constraints.empty()) {
      notes_->constraints.back().second.selects = true;
    }
  }
  // Whether spans are noted: otherwise callers need not say where they begin and end.
  [[nodiscard]] bool notes_spans() const noexcept { return notes_ != nullptr; }
  // The choices from number `begin` on are a span.
  void end_span(std::size_t begin) {
    if (notes_ != nullptr && begin < out_->choice_count()) {
      notes_->spans.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(out_->choice_count())});
    }
  }

 private:
  struct RealBounds;
  // A choice of the model: what it was read for, and the rest of the argument from there.
  struct Read {
    std::uint64_t constraints;
    std::span<const Choice> from;
  };

  const Choice* suggested(ChoiceKind kind) noexcept;
  const Choice* suggested_or_earlier(std::uint64_t constraints, ChoiceKind kind);
  bool changes() noexcept { return change_prob_ >= 1 || rng_.chance(change_prob_); }
  std::int64_t live_integer(std::int64_t low, std::int64_t high, std::int64_t simplest);
  std::int64_t new_integer(std::int64_t low, std::int64_t high, std::int64_t simplest);
  double live_real(const RealBounds& bounds);
  bool simplifies() noexcept { return simplest_prob_ > 0 && rng_.chance(simplest_prob_); }
  bool reuses() noexcept { return dictionary_ != nullptr && rng_.chance(reuse_prob_); }
  std::optional<std::int64_t> reused_integer(std::int64_t low, std::int64_t high);
  const Choice* reused(ChoiceKind kind);
  const Choice* earlier_position(std::int64_t size) noexcept;
  template <typename Fits>
  const Choice* drawn_earlier(const Fits& fits) noexcept;
  std::optional<Choice> mutated(const Choice& suggestion);
  const Choice* take(ChoiceKind kind) noexcept;
  const Choice* take_boolean(double p);
  double take_real(const RealBounds& bounds);
  std::int64_t take_integer(std::int64_t low, std::int64_t high, std::int64_t simplest);

  Tape* out_;
  std::shared_ptr<Journal> journal_;
  Rng rng_{0};
  const Tape* recorded_ = nullptr;
  const Tape* model_ = nullptr;  // the tape that live arguments begin with
  const Dictionary* dictionary_ = nullptr;
  double reuse_prob_ = 0.0;
  double simplest_prob_ = 0.0;
  // Of the argument that mutates: how likely each of its choices changes, and those that were read, in order.
  double change_prob_ = 1.0;
  std::vector<Read> read_;
  TapeStep step_{};
  std::span<const Choice> pending_;
  bool may_go_beyond_ = false;  // the recorded run may have ended while it drew this argument
  std::int64_t producer_ = TapeArgument::kNoProducer;
  std::uint64_t misaligned_ = 0;
  DrawNotes* notes_;
};

}  // namespace ordeal
