#include "compiler/base/number_text.h"

int main() { return rcn::number_text(100.0) == "100.0" ? 0 : 1; }
