#include "compiler/base/big_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>

namespace rcn {

namespace {

constexpr std::size_t kStackBytes = std::size_t{512} << 20;  // address space only: pages are taken as they are touched

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// Sanitizers keep books of stacks: theirs is that of a thread.
void on_big_stack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)) == 0) {
    pthread_join(thread, nullptr);
  } else {
    body();
  }
  pthread_attr_destroy(&attributes);
}

#else

namespace {

constexpr std::size_t kGuardBytes = std::size_t{64} * 1024;  // below it: running over ends in a fault, not in other data

const std::function<void()>* current = nullptr;

void enter() { (*current)(); }

}  // namespace

// A second stack in this thread. A thread of its own would do as well, but makes malloc take locks and an arena that
// grows page by page: a tenth of a short run.
void on_big_stack(const std::function<void()>& body) {
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  ucontext_t here, there;
  if (stack == MAP_FAILED || getcontext(&there) != 0) {
    body();  // no address space for it: the usual stack serves all but extreme programs
    return;
  }
  mprotect(stack, kGuardBytes, PROT_NONE);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = kStackBytes;
  there.uc_link = &here;
  const std::function<void()>* outer = current;
  current = &body;
  makecontext(&there, enter, 0);
  swapcontext(&here, &there);
  current = outer;
  munmap(stack, kStackBytes);
}

#endif

}  // namespace rcn
