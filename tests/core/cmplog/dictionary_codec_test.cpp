// What a session knows of values, as bytes and back.
#include "core/cmplog/dictionary_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(ValuesCodec, KeepsEntriesAndTheirSources) {
  const std::vector<DictionaryEntry> values{{DictionarySource::kOperand, Choice::integer(500)},
                                            {DictionarySource::kProductive, Choice::text("key")}};
  ByteWriter out;
  write_values(out, values);
  const std::string bytes = std::move(out).take();
  ByteReader in(bytes);
  EXPECT_EQ(read_values(in), values);
  in.check_end();
}

TEST(ValuesCodec, KeepsTheSearchForOperands) {
  Tape tape;
  tape.begin_step(StepKind::kRule, 0, 0);
  tape.begin_argument(0);
  tape.add(Choice::integer(123'456));
  const CmplogState search{
      .watches_run = true, .watched = 9, .turn = true, .queue = {tape, tape}, .tried = {{11, 1}, {12, 2}}};
  ByteWriter out;
  write_cmplog(out, search);
  const std::string bytes = std::move(out).take();
  ByteReader in(bytes);
  const CmplogState read = read_cmplog(in, {{0}, {}, {}, {0}});
  in.check_end();
  EXPECT_TRUE(read.watches_run);
  EXPECT_EQ(read.watched, 9U);
  EXPECT_TRUE(read.turn);
  EXPECT_EQ(read.queue, search.queue);
  EXPECT_EQ(read.tried, search.tried);
  ByteReader renamed(bytes);
  EXPECT_TRUE(read_cmplog(renamed, {{Renaming::kGone}, {}, {}, {0}}).queue.empty());
}

TEST(ValuesCodec, RefusesAnUnknownSource) {
  ByteReader in(std::string_view("\x01\x07\x01\x02", 4));
  EXPECT_THROW(static_cast<void>(read_values(in)), TraceError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
