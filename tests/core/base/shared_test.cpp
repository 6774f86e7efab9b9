// What threads share without a lock.
#include "core/base/shared.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(AddressMap, FindsWhatWasInserted) {
  AddressMap<int> map;
  int one = 1;
  int two = 2;
  map.insert(0x1000, &one);
  map.insert(0x2000, &two);
  EXPECT_EQ(map.find(0x1000), &one);
  EXPECT_EQ(map.find(0x2000), &two);
  EXPECT_EQ(map.find(0x3000), nullptr);
  EXPECT_EQ(map.size(), 2U);
}

// Also under the thread sanitizer.
TEST(AddressMap, IsReadWhileItGrows) {
  constexpr std::uintptr_t kAddresses = 20000;
  AddressMap<std::vector<int>> map;
  std::vector<int> value{7};
  std::atomic<bool> is_wrong = false;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      for (std::uintptr_t address = 16; address <= kAddresses * 16;) {
        if (const auto* const found = map.find(address); found != nullptr) {
          is_wrong = is_wrong || found->front() != 7;
          address += 16;
        }
      }
    });
  }
  for (std::uintptr_t address = 1; address <= kAddresses; ++address) {
    map.insert(address * 16, &value);
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_FALSE(is_wrong);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
