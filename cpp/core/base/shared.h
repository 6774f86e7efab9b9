// Values that threads share without a lock, and a lock that costs nothing until they do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ordeal {

// A value that any thread may read while another writes it. A reader also sees everything that was written before it.
// An update from two threads at once may be lost.
template <typename T>
class Shared {
 public:
  Shared() noexcept = default;
  Shared(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): it stands for the value
  Shared(const Shared& other) noexcept : value_(T(other)) {}
  Shared& operator=(const Shared& other) noexcept { return *this = T(other); }
  Shared& operator=(T value) noexcept {
    value_.store(value, std::memory_order_release);
    return *this;
  }
  ~Shared() = default;

  operator T() const noexcept {  // NOLINT(google-explicit-constructor)
    return value_.load(std::memory_order_acquire);
  }
  T operator->() const noexcept { return *this; }

 private:
  std::atomic<T> value_{};
};

// Guards what several threads change, once several are announced: with a GIL, one thread changes at a time.
class ThreadLock {
 public:
  // Before a second thread comes.
  void share() noexcept { is_shared_ = true; }

  // Until the end of the scope. A thread may hold it twice.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold() {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (is_shared_) {
      lock.lock();
    }
    return lock;
  }

 private:
  std::recursive_mutex mutex_;
  bool is_shared_ = false;
};

// Finds values by address: from any thread, at any time, without a lock. The owner's lock guards changes. Values are
// not owned, and nothing is removed.
template <typename Value>
class AddressMap {
 public:
  // Null if the address is unknown.
  [[nodiscard]] Value* find(std::uintptr_t address) const noexcept {
    const Table& table = *table_;
    for (std::size_t place = start(address, table);; ++place) {
      const Slot& slot = table[place & (table.size() - 1)];
      const std::uintptr_t found = slot.address;
      if (found == address) {
        return slot.value;
      }
      if (found == 0) {
        return nullptr;
      }
    }
  }

  // An address that is neither null nor known.
  void insert(std::uintptr_t address, Value* value) {
    if ((size_ + 1) * 2 > table_->size()) {
      grow();
    }
    put(*tables_.back(), address, value);
    ++size_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    Shared<std::uintptr_t> address;
    Shared<Value*> value;
  };
  using Table = std::vector<Slot>;  // its size is a power of two; at most half of it is taken

  // The low bits of addresses are mostly equal.
  static std::size_t start(std::uintptr_t address, const Table& table) noexcept {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15U) >> 32U) & (table.size() - 1);
  }

  static void put(Table& table, std::uintptr_t address, Value* value) noexcept {
    std::size_t place = start(address, table);
    while (table[place].address != 0) {
      place = (place + 1) & (table.size() - 1);
    }
    table[place].value = value;
    table[place].address = address;
  }

  void grow() {
    auto larger = std::make_unique<Table>(table_->size() * 2);
    for (const Slot& slot : *table_) {
      if (slot.address != 0) {
        put(*larger, slot.address, slot.value);
      }
    }
    tables_.push_back(std::move(larger));
    table_ = tables_.back().get();
  }

  static constexpr std::size_t kSlots = 256;

  // Earlier tables stay, because a thread may be reading them. Together they are no larger than the last.
  std::vector<std::unique_ptr<Table>> tables_ = first();
  Shared<const Table*> table_ = tables_.back().get();
  std::size_t size_ = 0;

  static std::vector<std::unique_ptr<Table>> first() {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<Table>(kSlots));
    return tables;
  }
};

}  // namespace ordeal
