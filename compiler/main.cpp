// The compiler: everything but eager runs, which rcnc-eager does.
#include "compiler/driver/driver.h"

int main(int argc, char** argv) { return rcn::rcnc_main(argc, argv); }
