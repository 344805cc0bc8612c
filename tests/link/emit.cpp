#include "compiler/emit/emit.h"

int main() { return rcn::loader_text().empty() ? 1 : 0; }
