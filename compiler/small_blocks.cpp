// `operator new` of the compiler's process. A compilation is mostly small blocks that live shortly, and the C library's
// malloc was a third of its time. Small blocks come from pages of one size each and go back to a list of free ones;
// memory that they once had stays theirs. Larger blocks are the C library's. Not with sanitizers, which watch malloc.
#ifdef __has_feature  // Clang's way to say it
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define RCNC_SANITIZED
#endif
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(RCNC_SANITIZED)

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kGrain = 16;             // bytes: sizes are multiples of it, and so are addresses
constexpr std::size_t kLargest = 512;          // bytes of a small block
constexpr std::size_t kPage = 64 * 1024;       // bytes
constexpr std::size_t kPages = std::size_t{1} << 18;  // of reserved addresses, 16 GiB; memory is used as pages are

struct Free {
  Free* next;
};

struct Blocks {  // of one size
  Free* free;
  char *at, *end;  // what is left of the newest page
};

constinit thread_local Blocks blocks[kLargest / kGrain + 1] = {};
constinit std::atomic<char*> pages{nullptr};  // the reserved addresses; null before the first block
constinit std::atomic<std::size_t> used{0};   // pages
std::uint8_t size_of_page[kPages];            // in grains

char* reserve() {
  void* found = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *ours = found == MAP_FAILED ? nullptr : static_cast<char*>(found), *expected = nullptr;
  if (!ours) used = kPages;  // none: the C library's from now on
  if (ours && !pages.compare_exchange_strong(expected, ours)) munmap(found, kPages * kPage);
  return pages;
}

void* large(std::size_t size) {
  for (;;) {
    if (void* block = std::malloc(size ? size : 1)) return block;
    std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void* from_new_page(Blocks& of, std::size_t grains) {
  char* start = pages.load(std::memory_order_acquire);
  if (!start && used < kPages) start = reserve();
  std::size_t page = start ? used.fetch_add(1) : kPages;
  if (page >= kPages) return large(grains * kGrain);
  size_of_page[page] = static_cast<std::uint8_t>(grains);
  char* block = start + page * kPage;
  of.at = block + grains * kGrain;
  of.end = block + kPage;
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size > kLargest) return large(size);
  std::size_t grains = size ? (size + kGrain - 1) / kGrain : 1;
  Blocks& of = blocks[grains];
  if (Free* block = of.free) {
    of.free = block->next;
    return block;
  }
  if (static_cast<std::size_t>(of.end - of.at) < grains * kGrain) return from_new_page(of, grains);
  char* block = of.at;
  of.at += grains * kGrain;
  return block;
}

void operator delete(void* block) noexcept {
  char* start = pages.load(std::memory_order_relaxed);
  auto offset = reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(start);
  if (!start || offset >= kPages * kPage) return std::free(block);
  Blocks& of = blocks[size_of_page[offset / kPage]];
  of.free = new (block) Free{of.free};
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

#endif
