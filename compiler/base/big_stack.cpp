#include "compiler/base/big_stack.h"

#include <pthread.h>

namespace rcn {

namespace {
constexpr std::size_t kStackBytes = std::size_t{512} << 20;  // address space only: pages are taken as they are touched

void* call(void* body) {
  (*static_cast<const std::function<void()>*>(body))();
  return nullptr;
}
}  // namespace

void on_big_stack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool ok = pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
            pthread_create(&thread, &attributes, call, const_cast<void*>(static_cast<const void*>(&body))) == 0;
  if (ok) {
    pthread_join(thread, nullptr);
  } else {
    body();  // no address space for it: the usual stack serves all but extreme programs
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace rcn
