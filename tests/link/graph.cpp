#include "compiler/graph/passes.h"

int main() {
  rcn::Graph graph;
  return rcn::drop_dead(graph).root().empty() ? 0 : 1;
}
