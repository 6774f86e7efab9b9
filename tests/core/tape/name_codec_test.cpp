// Tests of the names of a machine's parts: their bytes, and which part of today's machine a name stands for.
#include "core/tape/name_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

const MachineNames kThen{.rules = {"put", "take", "put"},
                         .initializers = {"open"},
                         .faults = {"slow", "slow"},
                         .arguments = {"n", "(body)"}};

std::string written(const MachineNames& names) {
  ByteWriter out;
  write_machine_names(out, names);
  return std::move(out).take();
}

TEST(NameCodec, names_survive_their_bytes) {
  const std::string bytes = written(kThen);
  ByteReader in(bytes);
  const MachineNames names = read_machine_names(in);
  in.check_end();
  EXPECT_EQ(names.rules, kThen.rules);
  EXPECT_EQ(names.initializers, kThen.initializers);
  EXPECT_EQ(names.faults, kThen.faults);
  EXPECT_EQ(names.arguments, kThen.arguments);
}

TEST(NameCodec, bytes_that_end_too_soon_are_refused) {
  const std::string bytes = written(kThen);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    ByteReader in(cut);
    EXPECT_THROW(read_machine_names(in), TraceError) << size;
  }
}

TEST(NameCodec, the_nth_of_a_name_stands_for_the_nth) {
  const MachineNames now{.rules = {"take", "put", "new", "put", "put"},
                         .initializers = {},
                         .faults = {"slow"},
                         .arguments = {"(body)", "n"}};
  const Renaming renaming = renaming_of(kThen, now);
  EXPECT_EQ(renaming.rules, (std::vector<std::uint32_t>{1, 0, 3}));
  EXPECT_EQ(renaming.initializers, (std::vector<std::uint32_t>{Renaming::kGone}));
  EXPECT_EQ(renaming.faults, (std::vector<std::uint32_t>{0, Renaming::kGone}));
  EXPECT_EQ(renaming.arguments, (std::vector<std::uint32_t>{1, 0}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
