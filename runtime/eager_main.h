// The program rcnc-eager.
#pragma once

namespace rcn {

// The command line of `rcnc --eager`; gives the exit code.
int eager_main(int argc, char** argv);

}  // namespace rcn
