// What the process says to the shell.
#pragma once

namespace rcn {

enum class ExitCode : int { ok = 0, model_error = 1, usage = 2, internal = 3, interrupted = 130 };

}  // namespace rcn
