// Records what runs in a fork, and replays it in the monitor of the forking process.
#include <algorithm>
#include <utility>

#include <tsl/robin_map.h>

#include "bindings/monitor/monitor.h"
#include "core/base/error.h"
#include "core/coverage/edge.h"

namespace ordeal::bindings {

// All locations report again: those silenced here need not be silenced for the reader of the record.
void Monitor::record() {
  recorder_.emplace();
  if (tool_id_) {
    restart_events();
  }
}

std::string Monitor::take_record() {
  RunRecord record;
  if (recorder_) {
    record.passages = recorder_->take();
  }
  tsl::robin_map<std::uint32_t, std::uint32_t> places;
  for (RunRecord::Passage& passage : record.passages) {
    const TracedCode& code = codes_[passage.code];
    const auto [place, is_first] = places.try_emplace(passage.code, static_cast<std::uint32_t>(record.codes.size()));
    if (is_first) {
      record.codes.push_back({code.key, code.first_line, files_[code.file].source.path});
    }
    passage.code = place->second;
  }
  return record.encode();
}

// Checks everything before counting any of it.
void Monitor::replay(std::string_view bytes) {
  const RunRecord record = RunRecord::decode(bytes);
  const auto code_at = [&](const RunRecord::Passage& passage) {
    const auto number = registry_.find_key(record.codes[passage.code].key);
    return number ? &codes_[*number] : nullptr;
  };
  for (const RunRecord::Passage& passage : record.passages) {
    if (passage.kind != RunRecord::Kind::kBranch) {
      continue;
    }
    const TracedCode* const code = code_at(passage);
    const std::size_t size = code != nullptr && code->is_met ? code->site_at.size() : kInstructionsMax;
    if (passage.from < 0 || passage.to < 0 || std::cmp_greater_equal(passage.from / kInstructionSize, size)) {
      throw TraceError("a branch at " + std::to_string(passage.from) + " is outside of its code");
    }
  }
  for (const RunRecord::Code& code : record.codes) {
    if (!add_file(code.path)) {
      throw TraceError("a file of another process is outside of the targets: " + code.path);
    }
  }
  for (const RunRecord::Passage& passage : record.passages) {
    // Looked up each time: the first passage of a code may add it, which moves the others.
    TracedCode* const code = recorded_code(record.codes[passage.code]);
    if (code == nullptr) {
      continue;
    }
    switch (passage.kind) {
      case RunRecord::Kind::kEntry:
        replay_entry(*code, passage.hits);
        break;
      case RunRecord::Kind::kLine:
        replay_line(*code, passage.from);
        break;
      case RunRecord::Kind::kBranch:
        replay_branch(*code, passage);
        break;
      case RunRecord::Kind::kMetAgain:
        wake(*code);
        break;
    }
  }
}

// Null if there is no room for more code.
Monitor::TracedCode* Monitor::recorded_code(const RunRecord::Code& recorded) {
  if (const auto number = registry_.find_key(recorded.key)) {
    return &codes_[*number];
  }
  const auto file = add_file(recorded.path);
  if (!file || registry_.size() >= CodeRegistry::kCodeObjectsMax) {
    return nullptr;
  }
  TracedCode code = new_code(recorded.key, recorded.first_line, *file);
  codes_.push_back(std::move(code));
  try {
    registry_.add_key(recorded.key);
  } catch (...) {
    codes_.pop_back();
    throw;
  }
  restored_.erase(recorded.key);
  return &codes_.back();
}

// As on_entry(), `hits` times.
void Monitor::replay_entry(TracedCode& code, std::uint32_t hits) {
  if (level_ == TraceLevel::kCounts) {
    std::uint32_t counted = 0;
    while (counted < std::min(hits, CoverageMap::kHitsCounted) && !code.entry_silent) {
      count_entry(code);
      ++counted;
    }
    events_ += code.entry_silent ? 0 : hits - counted;
  } else if (!std::exchange(code.entry_silent, true)) {
    count_event(code);
    coverage_->mark(code.entry_edge);
  }
}

// As on_line().
void Monitor::replay_line(TracedCode& code, std::int64_t line_in_code) {
  if (code.silent_lines.insert(line_in_code).second) {
    count_event(code);
    files_[code.file].lines.insert(code.first_line + line_in_code);
    coverage_->mark(coverage_->add_edge(line_key(code.key, line_in_code)));
  }
}

// Like on_branch(). When the location would be silenced, further passages do not matter.
void Monitor::replay_branch(TracedCode& code, const RunRecord::Passage& passage) {
  BranchSite& site = site_of(code, passage.from);
  const bool counts = level_ == TraceLevel::kCounts;
  // The map counts no further than its last bucket.
  const std::uint32_t times = counts ? std::min(passage.hits, CoverageMap::kHitsCounted) : passage.leading;
  for (std::uint32_t i = 0; i < times && !is_silent(site, passage.to); ++i) {
    count_event(code);
    const std::uint32_t edge = edge_of(code, site, passage.from, passage.to);
    counts ? count_branch(code, site, passage.to, edge) : mark_branch(site, passage.to, edge);
  }
  events_ += counts && !is_silent(site, passage.to) ? passage.hits - times : 0;
}

}  // namespace ordeal::bindings
