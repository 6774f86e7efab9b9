// What is noted of a run in a fork comes back as it was, and damaged bytes are refused.
#include "core/coverage/run_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Kind = RunRecord::Kind;
using Passage = RunRecord::Passage;

RunRecord some_record() {
  return {.codes = {{.key = 0xFEDCBA9876543210, .first_line = 3, .path = "/shop/cart.py"},
                    {.key = 1, .first_line = -1, .path = ""}},
          .passages = {{.kind = Kind::kEntry, .code = 0, .hits = 300, .leading = 1},
                       {.kind = Kind::kLine, .code = 1, .from = -2, .hits = 1, .leading = 1},
                       {.kind = Kind::kMetAgain, .code = 0, .hits = 1, .leading = 1},
                       {.kind = Kind::kBranch, .code = 1, .from = 8, .to = 64, .hits = 7, .leading = 2}}};
}

TEST(RunRecord, ComesBackAsItWas) {
  EXPECT_EQ(RunRecord::decode(some_record().encode()), some_record());
  EXPECT_EQ(RunRecord::decode(RunRecord().encode()), RunRecord());
}

TEST(RunRecord, DamagedBytesAreRefused) {
  const std::string whole = some_record().encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(RunRecord::decode(whole.substr(0, size)), TraceError) << size;
  }
  EXPECT_THROW(RunRecord::decode(whole + "x"), TraceError);
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    try {
      EXPECT_EQ(RunRecord::decode(bytes).encode(), bytes);
    } catch (const TraceError&) {
      continue;
    }
  }
}

TEST(RunRecord, RefusesWhatNobodyPasses) {
  RunRecord record = some_record();
  record.passages[0].code = 2;
  EXPECT_THROW(RunRecord::decode(record.encode()), TraceError);
  record = some_record();
  record.passages[0].hits = 0;
  EXPECT_THROW(RunRecord::decode(record.encode()), TraceError);
  record = some_record();
  record.passages[3].leading = 8;
  EXPECT_THROW(RunRecord::decode(record.encode()), TraceError);
}

TEST(RunRecorder, TellsInTheOrderOfTheFirstTimeHowOftenAndWhichSideLed) {
  RunRecorder recorder;
  recorder.entry(4);
  recorder.line(4, 1);
  for (const std::int64_t to : {6, 6, 20, 6, 20}) {
    recorder.branch(4, 2, to);
  }
  recorder.branch(4, 8, 6);
  recorder.entry(4);
  recorder.entry(5);
  const std::vector<Passage> expected = {
      {.kind = Kind::kEntry, .code = 4, .hits = 2, .leading = 1},
      {.kind = Kind::kLine, .code = 4, .from = 1, .hits = 1, .leading = 1},
      {.kind = Kind::kBranch, .code = 4, .from = 2, .to = 6, .hits = 3, .leading = 2},
      {.kind = Kind::kBranch, .code = 4, .from = 2, .to = 20, .hits = 2, .leading = 1},
      {.kind = Kind::kBranch, .code = 4, .from = 8, .to = 6, .hits = 1, .leading = 1},
      {.kind = Kind::kEntry, .code = 5, .hits = 1, .leading = 1}};
  EXPECT_EQ(recorder.take(), expected);
  EXPECT_TRUE(recorder.take().empty());
  recorder.branch(4, 2, 20);
  EXPECT_EQ(recorder.take()[0].leading, 1U) << "each step tells for itself";
}

TEST(RunRecorder, TellsAnewOfCodeThatIsMetAgain) {
  RunRecorder recorder;
  recorder.line(1, 1);
  recorder.met_again(1);
  recorder.line(1, 1);
  EXPECT_EQ(recorder.take().size(), 3U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
