#include "runtime/eager_main.h"

int main(int argc, char** argv) { return rcn::eager_main(argc, argv); }
