// The coverage map: which edges ran in this session, how often in this run, and what was new.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/base/shared.h"
#include "core/coverage/shared_edges.h"
#include "core/coverage/species_estimate.h"

namespace ordeal {

// What the session had not seen before.
struct NewCoverage {
  std::uint32_t edges = 0;    // edges that never ran before
  std::uint32_t buckets = 0;  // (edge, hit bucket) pairs; a new edge comes with its first pair
  std::uint32_t rules = 0;    // (edge, rule) pairs; a new edge comes with one as well
};

// What counts for the sample of runs behind the frequencies of edges. An event that is reported only once in many runs
// does not show how many runs take its edge, so the monitor says which events are reported in every run of the sample.
struct Sampled {
  bool hits = false;
  bool marks = false;

  [[nodiscard]] bool any() const noexcept { return hits || marks; }
};

// What a map has seen, for a later session to resume with.
struct CoverageState {
  struct Edge {
    std::uint64_t key = 0;
    std::uint8_t buckets = 0;  // one bit per bucket; never 0
    std::uint8_t stale_runs = 0;
    std::uint64_t rules = 0;  // one bit per rule that passed it
    FeatureFrequency frequency{};

    friend bool operator==(const Edge&, const Edge&) = default;
  };

  std::vector<Edge> edges;  // by ascending key
  std::uint64_t runs = 0;
  std::uint64_t runs_sampled = 0;

  friend bool operator==(const CoverageState&, const CoverageState&) = default;
};

// Each edge has its own cell, so that two edges never share a counter as they do in a hashed map. hit() and mark()
// are the hot path: noexcept and free of allocation, because add_edge() has reserved the space.
// Thread-safe once share_with_threads() was called: everything new is noted under a lock, and what was seen before is
// read without one. When two threads count a passage of one edge at once, one of both may be lost; nothing new is.
class CoverageMap {
 public:
  // It grows: a table for many edges takes a millisecond to make, and most programs have few.
  static constexpr std::size_t kDefaultCapacity = 4096;
  static constexpr std::size_t kEdgesMax = std::size_t{1} << 26U;
  // Passages of an edge in one run are counted up to here.
  static constexpr std::uint32_t kHitsCounted = 128;
  // An edge is stale after this many counted runs of it without anything new.
  static constexpr std::uint8_t kStaleRuns = 16;
  // How many new edges of a step are listed by id.
  static constexpr std::size_t kNewEdgesListed = 8;

  // What an edge has shown. It stays where it is. Its map changes it under the lock, but for `hits` and `stale_runs`.
  struct Cell {
    Shared<std::uint32_t> run = 0;        // the last one with a passage that was counted, by number of begin_run()
    Shared<std::uint8_t> hits = 0;        // in that run, saturating at kHitsMax
    Shared<std::uint8_t> buckets = 0;     // seen in this session, one bit per bucket; 0 means that the edge never ran
    Shared<std::uint8_t> stale_runs = 0;  // at the counts level: how many runs it ran in since it showed something new
    bool owed = false;  // seen but not counted as new, because others have it and the way there is unknown yet
    Shared<std::uint64_t> rules = 0;  // that passed it in this session, one bit each
    std::uint32_t id = 0;             // dense
  };

  explicit CoverageMap(std::size_t capacity = kDefaultCapacity);

  // From here on, several threads may call at any time.
  void share_with_threads() noexcept { lock_.share(); }

  // The cell of an edge; the same key always gives the same one. Does not mark the edge as seen. May allocate.
  Cell& add_edge(std::uint64_t key);
  // The same by id. Throws CheckFailure for an unknown one.
  Cell& edge_at(std::uint32_t id);

  // Counts level: one more passage of the edge in this run. A bucket that is new to the session is novelty.
  void hit(Cell& cell) noexcept {
    const std::uint8_t hits = cell.hits;
    if (cell.run != counted_run_ || is_new_rule(cell) ||
        (hits < kHitsMax && (kBucketEntered[hits + 1U] & ~cell.buckets) != 0)) {
      hit_anew(cell);
    } else if (hits < kHitsMax) {
      cell.hits = static_cast<std::uint8_t>(hits + 1);
    }
  }

  // Whether the edge was stale when this run began, and has shown nothing new since. So it does not matter which of its
  // passages in a run is asked about, unless it shows something new.
  [[nodiscard]] bool is_stale(const Cell& cell) const noexcept {
    return cell.stale_runs >= kStaleRuns + (cell.run == counted_run_ ? 1U : 0U);
  }

  // The same of an edge inside a function with this edge as its entry: one that some rule which enters the function has
  // not passed yet has something to show.
  [[nodiscard]] bool is_stale(const Cell& cell, const Cell& entry) const noexcept {
    return is_stale(cell) && (entry.rules & ~cell.rules) == 0;
  }

  // Novelty level: the edge ran at least once. If its location does not report this in each sampled run, it does not
  // count for a sample.
  void mark(Cell& cell, bool tells_each_run = true) noexcept {
    const bool is_sampled = tells_each_run && Sampled(sampled_).marks;
    if (is_sampled || is_new_rule(cell) || (cell.buckets & 1U) == 0) {
      mark_anew(cell, is_sampled);
    }
  }

  // Resets the counters for a new run.
  void begin_run() noexcept { counted_run_ = counted_run_ + 1; }
  // Ends the run, and counts it if it was sampled.
  void end_run() noexcept;
  // Sets what counts for the sample in this run and the following ones; by default everything does.
  void sample(Sampled sampled) noexcept { sampled_ = sampled; }
  // Restarts the sample, when earlier counts are not comparable with later ones.
  void forget_sample() noexcept;
  // From here on, edges are passed by this rule: a bit, or 0 for none.
  void enter_rule(std::uint64_t bit) noexcept { rule_ = bit; }

  // What was new since the last call.
  NewCoverage take_new_coverage() noexcept;

  [[nodiscard]] std::uint64_t key(std::uint32_t id) const;

  // Forgets everything seen: keys() then lists what runs from here on. Ids stay valid.
  void forget() noexcept;

  // The ids of the first edges that the last take_new_coverage() counted. Valid until the next such call.
  [[nodiscard]] std::span<const std::uint32_t> new_edge_ids() const noexcept {
    return {new_edge_ids_.data(), new_edges_listed_};
  }

  [[nodiscard]] std::size_t edges_seen() const noexcept;
  // In how many sampled runs the edge ran; 0 for an unknown edge.
  [[nodiscard]] std::uint64_t runs_of(std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint64_t runs_sampled() const noexcept { return runs_sampled_; }
  // How rare the edges of the sample are.
  [[nodiscard]] SampleCounts sample_counts() const;
  // How often the edge ran in this run, up to 128.
  [[nodiscard]] std::uint32_t hits(const Cell& cell) const noexcept {
    return cell.run == counted_run_ ? std::uint8_t{cell.hits} : 0U;
  }
  // The keys of the edges seen, sorted, so that they can be written, compared and merged.
  [[nodiscard]] std::vector<std::uint64_t> keys() const;
  // Marks an edge as seen by another session, so that it is not new here any more. Returns whether it would have been
  // new, or only the shared edges kept it from being so. May allocate.
  bool import_edge(std::uint64_t key);
  // From here on, `others` get what was seen at the end of each run; what is already seen they get at once. If it
  // `listens`, edges that they have are not new here. Not in the middle of a run.
  void share(std::shared_ptr<SharedEdges> others, bool listens);
  [[nodiscard]] CoverageState save() const;
  // Adds what an earlier session saw; none of it is new any more.
  void restore(const CoverageState& state);
  // Adds what another session saw, and how often; its runs count as later than the earlier ones here.
  void merge(const CoverageState& state);

 private:
  // AFL's hit buckets 1, 2, 3, 4-7, 8-15, 16-31, 32-127 and 128 or more, one bit each.
  static constexpr std::uint8_t kHitsMax = kHitsCounted;
  static constexpr std::array<std::uint8_t, 8> kBucketStarts{1, 2, 3, 4, 8, 16, 32, 128};

  // The bit of the bucket that begins at this number of hits; 0 inside a bucket.
  static constexpr std::array<std::uint8_t, kHitsMax + 1> bucket_entered() noexcept {
    std::array<std::uint8_t, kHitsMax + 1> bits{};
    for (std::size_t bucket = 0; bucket < kBucketStarts.size(); ++bucket) {
      bits[kBucketStarts[bucket]] = static_cast<std::uint8_t>(1U << bucket);
    }
    return bits;
  }
  static const std::array<std::uint8_t, kHitsMax + 1> kBucketEntered;

  // The cell of an edge that another session saw and that is now seen here. The caller sets when and how often.
  Cell& add_seen(const CoverageState::Edge& edge);

  // Whether the rule that is running has not reached the edge before. Most edges are reached by few rules, so that a
  // set in one word does.
  [[nodiscard]] bool is_new_rule(const Cell& cell) const noexcept { return (rule_ & ~cell.rules) != 0; }

  // The rest is called with the lock held, or takes it.
  void hit_anew(Cell& cell) noexcept;
  void mark_anew(Cell& cell, bool is_sampled) noexcept;
  void see_rule(Cell& cell) noexcept;
  void see(Cell& cell, std::uint8_t bucket) noexcept;
  bool is_elsewhere(Cell& cell) noexcept;

  mutable ThreadLock lock_;
  tsl::robin_map<std::uint64_t, Cell*> by_key_;
  std::vector<std::uint64_t> keys_;            // by id
  std::deque<Cell> cells_;                     // by id
  std::vector<FeatureFrequency> frequencies_;  // by id
  std::shared_ptr<SharedEdges> others_;
  bool listens_ = false;
  std::vector<std::uint32_t> unshared_;                  // ids that they get at the end of the run; capacity for all
  std::array<std::uint32_t, kNewEdgesListed> newest_{};  // ids of the first edges in new_coverage_
  std::array<std::uint32_t, kNewEdgesListed> new_edge_ids_{};  // when that was taken
  std::size_t new_edges_listed_ = 0;
  Shared<std::uint64_t> rule_ = 0;
  Shared<Sampled> sampled_ = Sampled{.hits = true, .marks = true};
  Shared<std::uint32_t> counted_run_ = 1;
  std::uint32_t run_ = 1;
  std::uint64_t runs_sampled_ = 0;
  NewCoverage new_coverage_;
  std::size_t edges_seen_ = 0;
};

inline constexpr std::array<std::uint8_t, CoverageMap::kHitsMax + 1> CoverageMap::kBucketEntered =
    CoverageMap::bucket_entered();

}  // namespace ordeal
