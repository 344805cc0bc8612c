#include "runtime/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "compiler/driver/exit_code.h"

namespace rcn {

namespace {

volatile std::sig_atomic_t wanted = 0;

void on_signal(int) {
  if (wanted) _exit(static_cast<int>(ExitCode::interrupted));
  wanted = 1;
}

void note_only(int) { wanted = 1; }

void end_at_once(int) { _exit(static_cast<int>(ExitCode::interrupted)); }

void set_handler(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

void handle_interrupts(bool with_prompt) { set_handler(with_prompt ? on_signal : end_at_once, SA_RESTART); }

InterruptibleRead::InterruptibleRead() { set_handler(note_only, 0); }
InterruptibleRead::~InterruptibleRead() { set_handler(on_signal, SA_RESTART); }

bool take_interrupt() {
  if (!wanted) return false;
  wanted = 0;
  return true;
}

}  // namespace rcn
