// Any bytes compile to a text, always the same, or fail with a diagnostic.
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/base/big_stack.h"
#include "compiler/driver/pipeline.h"
#include "tests/fuzz/target.h"

namespace {

// Empty after errors.
std::string compile_once(const rcn::Options& options, const std::string& path) {
  rcn::Messages messages;
  rcn::Session session(options, messages);
  std::string text;
  if (rcn::load(session, path)) text = rcn::compile(session).text;
  require(text.empty() == session.failed(), "a text and errors, or neither");
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(fd >= 0 && ::write(fd, data, size) == static_cast<ssize_t>(size), "no memory file");
  rcn::Options options;
  options.limits.steps = 100'000;
  options.limits.list_items = 10'000;
  options.limits.layers = 10'000;
  options.models = {"/proc/self/fd/" + std::to_string(fd)};
  rcn::on_big_stack([&] {
    std::string first = compile_once(options, options.models[0]);
    require(first == compile_once(options, options.models[0]), "two texts of one model");
  });
  ::close(fd);
  return 0;
}
