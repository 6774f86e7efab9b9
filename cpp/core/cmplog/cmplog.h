// Has the program's comparisons observed in replays of some runs, and plans runs that turn them.
//
// Named after AFL++'s instrumentation for the same purpose: the program runs as usual, and reports its comparisons only
// in replays. When to pay for one is for the caller to decide.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cmplog/input_to_state.h"
#include "core/corpus/corpus.h"
#include "core/draw/dictionary.h"
#include "core/tape/tape.h"

namespace ordeal {

// The state as plain values, for files.
struct CmplogState {
  bool watches_run = false;
  std::uint64_t watched = 0;
  bool turn = false;
  std::vector<Tape> queue;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> tried;  // ascending
};

// Decided by counts of runs, never by time. Thread-compatible.
class Cmplog {
 public:
  // An edit that brought nothing is tried again in another run, but only this often.
  static constexpr std::uint8_t kTriesMax = 2;
  static constexpr std::size_t kQueueMax = 128;
  // The limit of all tapes in the queue together, in bytes: what a rule draws may be large.
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20U;
  static constexpr std::size_t kTriedMax = std::size_t{1} << 16U;

  // Ends a run. `follows_solution` says that its tape came from next().
  void end_run(std::uint32_t new_edges, bool follows_solution);
  // Whether a replay should be observed for comparisons: not as long as runs wait to try what the latest one showed.
  [[nodiscard]] bool wants_comparisons() const noexcept { return queue_.empty(); }
  // The checkpoint whose prefix to replay; null for the run just ended, which comes first if code behind a turned
  // comparison ran in it. Takes checkpoints kept for a new edge, the newest that is older than the previous one, then
  // from the newest again: comparisons that few runs meet are met on the way to them. O(corpus).
  [[nodiscard]] const Checkpoint* checkpoint_to_watch(const Corpus& corpus) const;
  // Learns from the comparisons in the replay of `tape`; `checkpoint` is 0 for the run. Operands go to the dictionary;
  // tapes that should turn a comparison are queued, up to the step that compared. Returns their number.
  std::size_t learn(const Tape& tape, std::uint64_t checkpoint, std::span<const Comparison> comparisons,
                    Dictionary& dictionary);
  // The tape that the next run should follow. At most every other run, so that nothing starves.
  std::optional<Tape> next();

  [[nodiscard]] CmplogState save() const;
  void restore(CmplogState state);

 private:
  bool is_worth_trying(const Tape& tape, const ChoiceEdit& edit);
  [[nodiscard]] bool has_room_for(std::size_t bytes) const noexcept;
  void enqueue(Tape tape);

  bool watches_run_ = false;
  std::uint64_t watched_ = 0;  // the checkpoint observed last
  bool turn_ = false;
  std::deque<Tape> queue_;
  std::size_t bytes_ = 0;  // of the queue
  tsl::robin_map<std::uint64_t, std::uint8_t> tried_;
};

}  // namespace ordeal
