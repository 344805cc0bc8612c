#include "compiler/ops/op_table.h"

int main() { return rcn::OpTable().find("tanh") ? 0 : 1; }
