// The compiler: everything but eager runs, which rcnc-eager does.
#include <cstdlib>
#include <iostream>

#include "compiler/driver/driver.h"

int main(int argc, char** argv) {
  int code = rcn::rcnc_main(argc, argv);
  std::cout.flush();
#ifdef NDEBUG
  std::_Exit(code);  // nothing is left to do; taking the parser's tables apart would be a tenth of a short run
#else
  return code;
#endif
}
