#include "compiler/diag/diagnostic.h"

int main() { return rcn::all_diagnostics().empty() ? 1 : 0; }
