// The slower half of the coverage map: growth, runs, and reading it out.
#include "core/coverage/coverage_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace ordeal {

CoverageMap::CoverageMap(std::size_t capacity) {
  if (capacity == 0 || capacity > kEdgesMax) {
    throw ConfigError("coverage map capacity is " + std::to_string(capacity) + "; it must be between 1 and " +
                      std::to_string(kEdgesMax));
  }
  ids_.reserve(capacity);
  keys_.reserve(capacity);
  cells_.reserve(capacity);
  sightings_.reserve(capacity);
  touched_.reserve(capacity);
  unshared_.reserve(capacity);
}

std::uint32_t CoverageMap::add_edge(std::uint64_t key) {
  if (const auto known = ids_.find(key); known != ids_.end()) {
    return known->second;
  }
  ORDEAL_CHECK(cells_.size() < kEdgesMax, "edges=" << cells_.size());
  const auto id = static_cast<std::uint32_t>(cells_.size());
  keys_.push_back(key);
  cells_.emplace_back();
  sightings_.emplace_back();
  touched_.reserve(cells_.capacity());
  unshared_.reserve(cells_.capacity());
  ids_.emplace(key, id);
  ORDEAL_CHECK(touched_.capacity() >= cells_.size(), "capacity=" << touched_.capacity());
  ORDEAL_CHECK(unshared_.capacity() >= cells_.size(), "capacity=" << unshared_.capacity());
  return id;
}

void CoverageMap::begin_run() noexcept {
  for (const std::uint32_t id : touched_) {
    cells_[id].hits = 0;
  }
  touched_.clear();
}

void CoverageMap::end_run() noexcept {
  runs_sampled_ += sampled_.any() ? 1U : 0U;
  ++run_;
  // Not before: of a run that ends its process nobody learns how it came there.
  for (const std::uint32_t id : unshared_) {
    others_->insert(keys_[id]);
  }
  unshared_.clear();
}

void CoverageMap::forget_sample() noexcept {
  std::ranges::fill(sightings_, Sighting{});
  runs_sampled_ = 0;
}

Fresh CoverageMap::take_fresh() noexcept {
  fresh_told_ = std::min<std::size_t>(fresh_.edges, kFreshTold);
  return std::exchange(fresh_, Fresh{});
}

void CoverageMap::forget() noexcept {
  std::ranges::fill(cells_, Cell{});
  touched_.clear();
  unshared_.clear();
  forget_sample();
  fresh_ = {};
  fresh_told_ = 0;
  edges_seen_ = 0;
}

std::uint64_t CoverageMap::runs_of(std::uint64_t key) const noexcept {
  const auto known = ids_.find(key);
  return known == ids_.end() ? 0 : sightings_[known->second].runs;
}

Abundance CoverageMap::abundance() const { return abundance_of(sightings_, runs_sampled_); }

std::uint32_t CoverageMap::hits(std::uint32_t id) const {
  ORDEAL_CHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
  return cells_[id].hits;
}

std::uint64_t CoverageMap::key(std::uint32_t id) const {
  ORDEAL_CHECK(id < keys_.size(), "id=" << id << " edges=" << keys_.size());
  return keys_[id];
}

std::vector<std::uint64_t> CoverageMap::keys() const {
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

bool CoverageMap::adopt(std::uint64_t key) {
  const std::size_t before = edges_seen_;
  Cell& cell = cells_[add_seen({.key = key, .buckets = 1})];
  return edges_seen_ != before || std::exchange(cell.owed, false);
}

void CoverageMap::share(std::shared_ptr<SharedEdges> others, bool listens) {
  others_ = std::move(others);
  listens_ = listens;
  unshared_.clear();
  for (const std::uint64_t key : others_ == nullptr ? std::vector<std::uint64_t>{} : keys()) {
    others_->insert(key);
  }
}

CoverageState CoverageMap::save() const {
  CoverageState state;
  state.edges.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      state.edges.push_back({keys_[id], cells_[id].buckets, cells_[id].rules, sightings_[id]});
    }
  }
  std::ranges::sort(state.edges, {}, &CoverageState::Edge::key);
  state.runs = run_ - 1;
  state.runs_sampled = runs_sampled_;
  return state;
}

std::uint32_t CoverageMap::add_seen(const CoverageState::Edge& edge) {
  const std::uint32_t id = add_edge(edge.key);
  Cell& cell = cells_[id];
  edges_seen_ += cell.buckets == 0 && edge.buckets != 0 ? 1 : 0;
  cell.buckets = static_cast<std::uint8_t>(cell.buckets | edge.buckets);
  cell.rules |= edge.rules;
  return id;
}

void CoverageMap::restore(const CoverageState& state) {
  for (const CoverageState::Edge& edge : state.edges) {
    sightings_[add_seen(edge)] = edge.sighting;
  }
  run_ = static_cast<std::uint32_t>(state.runs + 1);
  runs_sampled_ = state.runs_sampled;
}

void CoverageMap::merge(const CoverageState& state) {
  for (const CoverageState::Edge& edge : state.edges) {
    Sighting& mine = sightings_[add_seen(edge)];
    if (edge.sighting.runs > 0) {
      mine = {mine.runs + edge.sighting.runs, run_ - 1 + edge.sighting.last_run};
    }
  }
  run_ += static_cast<std::uint32_t>(state.runs);
  runs_sampled_ += state.runs_sampled;
}

}  // namespace ordeal
