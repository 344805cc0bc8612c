#include "compiler/driver/options.h"

int main() {
  const char* argv[] = {"rcnc", "model.rcn"};
  return rcn::parse_options(2, argv).exit ? 1 : 0;
}
