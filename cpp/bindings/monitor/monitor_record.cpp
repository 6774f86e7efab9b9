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
  {
    const auto lock = lock_.hold();
    recorder_.emplace();
    is_recording_ = true;
  }
  if (tool_id()) {
    restart_events();
  }
}

std::string Monitor::take_record() {
  const auto lock = lock_.hold();
  RunRecord record;
  if (recorder_) {
    record.passages = recorder_->take();
  }
  tsl::robin_map<std::uint32_t, std::uint32_t> places;
  for (RunRecord::Passage& passage : record.passages) {
    const TracedCode& code = codes_[passage.code];
    const auto [place, is_first] = places.try_emplace(passage.code, static_cast<std::uint32_t>(record.codes.size()));
    if (is_first) {
      record.codes.push_back({code.key, code.first_line, code.file->source.path});
    }
    passage.code = place->second;
  }
  return record.encode();
}

// Checks everything before counting any of it.
void Monitor::replay(std::string_view bytes) {
  const RunRecord record = RunRecord::decode(bytes);
  const auto lock = lock_.hold();
  for (const RunRecord::Passage& passage : record.passages) {
    if (passage.kind != RunRecord::Kind::kBranch) {
      continue;
    }
    const TracedCode* const code = find_key(record.codes[passage.code].key);
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

// Null when no more code fits.
Monitor::TracedCode* Monitor::recorded_code(const RunRecord::Code& recorded) {
  if (TracedCode* const known = find_key(recorded.key); known != nullptr) {
    return known;
  }
  TracedFile* const file = add_file(recorded.path);
  if (file == nullptr || codes_.size() >= kCodeObjectsMax) {
    return nullptr;
  }
  TracedCode& code = add_code(recorded.key, recorded.first_line, *file);
  restored_.erase(recorded.key);
  return &code;
}

// As on_entry(), `hits` times.
void Monitor::replay_entry(TracedCode& code, std::uint32_t hits) {
  if (level_ == TraceLevel::kCounts) {
    std::uint32_t counted = 0;
    while (counted < std::min(hits, CoverageMap::kHitsCounted) && !code.entry_silent) {
      count_entry(code);
      ++counted;
    }
    add_events(code.entry_silent ? 0 : hits - counted);
  } else if (!code.entry_silent) {
    code.entry_silent = true;
    count_event(code);
    coverage_->mark(*code.entry_edge);
  }
}

// As on_line().
void Monitor::replay_line(TracedCode& code, std::int64_t line_in_code) {
  if (code.silent_lines.insert(line_in_code).second) {
    count_event(code);
    code.file->lines.insert(code.first_line + line_in_code);
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
    Edge& edge = edge_of(code, site, passage.from, passage.to);
    counts ? count_branch(code, site, passage.to, edge) : mark_branch(site, passage.to, edge);
  }
  add_events(counts && !is_silent(site, passage.to) ? passage.hits - times : 0);
}

}  // namespace ordeal::bindings
