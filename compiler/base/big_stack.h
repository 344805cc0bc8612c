// A stack that fits the deepest legal program: the parser and the evaluator recurse as deep as the limits allow.
#pragma once

#include <functional>

namespace rcn {

// Runs `body` to its end on a stack of its own. Exceptions must not leave `body`.
void on_big_stack(const std::function<void()>& body);

}  // namespace rcn
