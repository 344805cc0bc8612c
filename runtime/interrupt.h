// Ctrl-C.
#pragma once

namespace rcn {

// Without a prompt an interrupt ends the program at once, exit code 130. With one the first sets a flag, and the
// program stops before its next operation; a second one before that ends it.
void handle_interrupts(bool with_prompt);
// Whether there was one since it was last asked.
bool take_interrupt();
// While one lives, an interrupt ends a read that waits, and none ends the program: one that comes just before the read waits is
// seen with the next. Else it ends no system call: output would be lost.
class InterruptibleRead {
 public:
  InterruptibleRead();
  ~InterruptibleRead();
  InterruptibleRead(const InterruptibleRead&) = delete;
  InterruptibleRead& operator=(const InterruptibleRead&) = delete;
};

}  // namespace rcn
