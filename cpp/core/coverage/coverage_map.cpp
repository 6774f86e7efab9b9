// The slower half of the coverage map: growth, runs, and reading it out.
#include "core/coverage/coverage_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {

// Reserves space for `capacity` edges at once, so that callbacks of the program under test rarely allocate.
CoverageMap::CoverageMap(std::size_t capacity) {
  if (capacity == 0 || capacity > kEdgesMax) {
    throw ConfigError("coverage map capacity is " + std::to_string(capacity) + "; it must be between 1 and " +
                      std::to_string(kEdgesMax));
  }
  by_key_.reserve(capacity);
  keys_.reserve(capacity);
  frequencies_.reserve(capacity);
  unshared_.reserve(capacity);
}

// Lets hit() and mark() not allocate: the list that they append to gets space for every edge here.
CoverageMap::Cell& CoverageMap::add_edge(std::uint64_t key) {
  const auto lock = lock_.hold();
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    return *known->second;
  }
  ORDEAL_CHECK(cells_.size() < kEdgesMax, "edges=" << cells_.size());
  keys_.push_back(key);
  frequencies_.emplace_back();
  unshared_.reserve(keys_.capacity());
  Cell& made = cells_.emplace_back();
  made.id = static_cast<std::uint32_t>(cells_.size() - 1);
  by_key_.emplace(key, &made);
  return made;
}

CoverageMap::Cell& CoverageMap::edge_at(std::uint32_t id) {
  const auto lock = lock_.hold();
  ORDEAL_CHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
  return cells_[id];
}

// A passage that shows something, or the first of this run.
void CoverageMap::hit_anew(Cell& cell) noexcept {
  const auto lock = lock_.hold();
  see_rule(cell);
  if (cell.run != counted_run_) {
    cell.run = counted_run_;
    cell.hits = 0;
    if (cell.stale_runs <= kStaleRuns) {
      cell.stale_runs = static_cast<std::uint8_t>(cell.stale_runs + 1);
    }
    if (Sampled(sampled_).hits) {
      frequencies_[cell.id].in_run(run_);
    }
  }
  if (cell.hits < kHitsMax) {
    cell.hits = static_cast<std::uint8_t>(cell.hits + 1);
    see(cell, kBucketEntered[cell.hits]);
  }
}

void CoverageMap::mark_anew(Cell& cell, bool is_sampled) noexcept {
  const auto lock = lock_.hold();
  see_rule(cell);
  see(cell, 1);
  if (is_sampled) {
    frequencies_[cell.id].in_run(run_);
  }
}

void CoverageMap::see_rule(Cell& cell) noexcept {
  if (is_new_rule(cell)) {
    cell.rules = cell.rules | rule_;
    cell.stale_runs = 0;
    ++new_coverage_.rules;
  }
}

// New is an edge without a bucket, and a bucket that the edge has not had.
void CoverageMap::see(Cell& cell, std::uint8_t bucket) noexcept {
  if ((bucket & ~cell.buckets) == 0) {
    return;
  }
  cell.stale_runs = 0;
  const bool is_first = cell.buckets == 0;
  cell.buckets = static_cast<std::uint8_t>(cell.buckets | bucket);
  if (is_first) {
    ++edges_seen_;
    if (is_elsewhere(cell)) {
      return;
    }
    if (new_coverage_.edges < kNewEdgesListed) {
      newest_[new_coverage_.edges] = cell.id;
    }
    ++new_coverage_.edges;
  }
  ++new_coverage_.buckets;
}

// Whether others have an edge that is new to this session. If not, they will get it.
bool CoverageMap::is_elsewhere(Cell& cell) noexcept {
  if (others_ == nullptr) {
    return false;
  }
  cell.owed = listens_ && others_->holds(keys_[cell.id]);
  if (!cell.owed) {
    unshared_.push_back(cell.id);  // never allocates: add_edge() keeps room for every edge
  }
  return cell.owed;
}

// Only now are the new edges shared.
void CoverageMap::end_run() noexcept {
  const auto lock = lock_.hold();
  ORDEAL_DCHECK(unshared_.empty() || others_ != nullptr, "nobody is there to share edges with");
  runs_sampled_ += Sampled(sampled_).any() ? 1U : 0U;
  ++run_;
  // Not before: if a run ends its process, how it reached them is lost.
  for (const std::uint32_t id : unshared_) {
    others_->insert(keys_[id]);
  }
  unshared_.clear();
}

// Counts of different kinds of sampling must not be added.
void CoverageMap::forget_sample() noexcept {
  const auto lock = lock_.hold();
  std::ranges::fill(frequencies_, FeatureFrequency{});
  runs_sampled_ = 0;
}

NewCoverage CoverageMap::take_new_coverage() noexcept {
  const auto lock = lock_.hold();
  ORDEAL_DCHECK(new_coverage_.buckets >= new_coverage_.edges, "an edge without a bucket");
  new_edges_listed_ = std::min<std::size_t>(new_coverage_.edges, kNewEdgesListed);
  new_edge_ids_ = newest_;
  return std::exchange(new_coverage_, NewCoverage{});
}

// For another state of the program: what was seen before says nothing about it.
void CoverageMap::forget() noexcept {
  const auto lock = lock_.hold();
  for (Cell& cell : cells_) {
    cell.run = 0;
    cell.buckets = 0;
    cell.stale_runs = 0;
    cell.owed = false;
    cell.rules = 0;
  }
  unshared_.clear();
  forget_sample();
  new_coverage_ = {};
  new_edges_listed_ = 0;
  edges_seen_ = 0;
}

// One look-up: for the few edges of a checkpoint.
std::uint64_t CoverageMap::runs_of(std::uint64_t key) const noexcept {
  const auto lock = lock_.hold();
  const auto known = by_key_.find(key);
  return known == by_key_.end() ? 0 : frequencies_[known->second->id].runs;
}

SampleCounts CoverageMap::sample_counts() const {
  const auto lock = lock_.hold();
  return count_sample(frequencies_, runs_sampled_);
}

std::size_t CoverageMap::edges_seen() const noexcept {
  const auto lock = lock_.hold();
  return edges_seen_;
}

std::uint64_t CoverageMap::key(std::uint32_t id) const {
  const auto lock = lock_.hold();
  ORDEAL_CHECK(id < keys_.size(), "id=" << id << " edges=" << keys_.size());
  return keys_[id];
}

// O(n log n): for files and comparisons.
std::vector<std::uint64_t> CoverageMap::keys() const {
  const auto lock = lock_.hold();
  std::vector<std::uint64_t> seen;
  seen.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      seen.push_back(keys_[id]);
    }
  }
  ORDEAL_CHECK(seen.size() == edges_seen_, "seen=" << seen.size() << " counted=" << edges_seen_);
  std::ranges::sort(seen);
  return seen;
}

// An edge seen here but owed to others is new once, when it is known how to reach it.
bool CoverageMap::import_edge(std::uint64_t key) {
  const auto lock = lock_.hold();
  const std::size_t before = edges_seen_;
  Cell& cell = add_seen({.key = key, .buckets = 1});
  return edges_seen_ != before || std::exchange(cell.owed, false);
}

// Shares at once what this session has seen, so that others need not find it again.
void CoverageMap::share(std::shared_ptr<SharedEdges> others, bool listens) {
  const auto lock = lock_.hold();
  others_ = std::move(others);
  listens_ = listens;
  unshared_.clear();
  for (const std::uint64_t key : others_ == nullptr ? std::vector<std::uint64_t>{} : keys()) {
    others_->insert(key);
  }
}

// Sorted, so that equal states are equal bytes.
CoverageState CoverageMap::save() const {
  const auto lock = lock_.hold();
  CoverageState state;
  state.edges.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      const Cell& cell = cells_[id];
      state.edges.push_back({.key = keys_[id],
                             .buckets = cell.buckets,
                             .stale_runs = cell.stale_runs,
                             .rules = cell.rules,
                             .frequency = frequencies_[id]});
    }
  }
  std::ranges::sort(state.edges, {}, &CoverageState::Edge::key);
  state.runs = run_ - 1;
  state.runs_sampled = runs_sampled_;
  return state;
}

// Leaves the frequency unchanged, as only the caller knows in which runs the edge was seen.
CoverageMap::Cell& CoverageMap::add_seen(const CoverageState::Edge& edge) {
  Cell& seen = add_edge(edge.key);
  edges_seen_ += seen.buckets == 0 && edge.buckets != 0 ? 1U : 0U;
  seen.buckets = static_cast<std::uint8_t>(seen.buckets | edge.buckets);
  seen.rules = seen.rules | edge.rules;
  return seen;
}

// The runs of that session come before those of this one.
void CoverageMap::restore(const CoverageState& state) {
  const auto lock = lock_.hold();
  for (const CoverageState::Edge& edge : state.edges) {
    Cell& seen = add_seen(edge);
    seen.stale_runs = edge.stale_runs;
    frequencies_[seen.id] = edge.frequency;
  }
  run_ = static_cast<std::uint32_t>(state.runs + 1);
  runs_sampled_ = state.runs_sampled;
}

// The runs of the other session come after those of this one, as if both were one.
void CoverageMap::merge(const CoverageState& state) {
  const auto lock = lock_.hold();
  for (const CoverageState::Edge& edge : state.edges) {
    FeatureFrequency& mine = frequencies_[add_seen(edge).id];
    if (edge.frequency.runs > 0) {
      mine = {mine.runs + edge.frequency.runs, run_ - 1 + edge.frequency.last_run};
    }
  }
  run_ += static_cast<std::uint32_t>(state.runs);
  runs_sampled_ += state.runs_sampled;
}

}  // namespace ordeal
