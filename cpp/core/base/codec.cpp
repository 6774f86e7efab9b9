#include "core/base/codec.h"

#include <zstd.h>

#include <array>
#include <memory>
#include <string>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

// The smallest block is a header of three bytes and one byte to repeat; it unpacks to ZSTD_BLOCKSIZE_MAX bytes at most.
constexpr std::size_t kPackedBlockMin = 4;

// Memory of zstd must be freed by zstd.
struct FreeContext {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

// The parameters are constants of this file, so an error is a mistake of ours.
void set_parameter(ZSTD_CCtx& context, ZSTD_cParameter parameter, int value) {
  const std::size_t result = ZSTD_CCtx_setParameter(&context, parameter, value);
  ORDEAL_CHECK(ZSTD_isError(result) == 0, ZSTD_getErrorName(result));
}

// Little endian on every machine.
constexpr std::array<char, 4> kMagic{
    static_cast<char>(ZSTD_MAGICNUMBER & 0xFFU),
    static_cast<char>((ZSTD_MAGICNUMBER >> 8U) & 0xFFU),
    static_cast<char>((ZSTD_MAGICNUMBER >> 16U) & 0xFFU),
    static_cast<char>((ZSTD_MAGICNUMBER >> 24U) & 0xFFU),
};

// zstd would skip frames of other kinds and continue after the first frame: we never write either.
void check_is_one_frame(std::string_view packed) {
  if (!packed.starts_with(std::string_view(kMagic.data(), kMagic.size()))) {
    throw TraceError("not a zstd frame");
  }
  const std::size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
  if (ZSTD_isError(frame) != 0) {
    throw TraceError(std::string("damaged zstd frame: ") + ZSTD_getErrorName(frame));
  }
  if (frame != packed.size()) {
    throw TraceError(std::to_string(packed.size() - frame) + " bytes follow the end of the zstd frame");
  }
}

// The size that a frame claims, checked before so much memory is allocated. A short frame that claims gigabytes is
// refused by the maximum that zstd can pack into a block.
std::size_t claimed_size(std::string_view packed, std::size_t size_max) {
  const unsigned long long claimed = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR || claimed == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw TraceError("a zstd frame that does not say how much it holds");
  }
  if (claimed > size_max) {
    throw TraceError("holds " + std::to_string(claimed) + " bytes; at most " + std::to_string(size_max) + " are read");
  }
  if (claimed > packed.size() / kPackedBlockMin * ZSTD_BLOCKSIZE_MAX) {
    throw TraceError("a zstd frame of " + std::to_string(packed.size()) + " bytes cannot hold the " +
                     std::to_string(claimed) + " that it claims");
  }
  return static_cast<std::size_t>(claimed);
}

}  // namespace

// With a checksum: a file damaged on disk must not be read as another one.
std::string compress(std::string_view data, int level) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  ORDEAL_CHECK(context != nullptr, "no memory for a zstd context");
  set_parameter(*context, ZSTD_c_compressionLevel, level);
  set_parameter(*context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(data.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), data.data(), data.size());
  ORDEAL_CHECK(ZSTD_isError(size) == 0, ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

// Nothing about the bytes is trusted here; every doubt is a TraceError.
std::string decompress(std::string_view packed, std::size_t size_max) {
  check_is_one_frame(packed);
  std::string data(claimed_size(packed, size_max), '\0');
  const std::size_t size = ZSTD_decompress(data.data(), data.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) {
    throw TraceError(std::string("damaged zstd frame: ") + ZSTD_getErrorName(size));
  }
  if (size != data.size()) {
    throw TraceError("a zstd frame holds " + std::to_string(size) + " bytes but claims " + std::to_string(data.size()));
  }
  return data;
}

}  // namespace ordeal
