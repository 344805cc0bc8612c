// Included first in every file where clang compiles (presets `fuzz` and `tidy`): in Debian's ANTLR 4.9 clang refuses a
// constructor that nobody calls. As a template it is not looked into.
#pragma GCC system_header  // no warnings: `##` is an extension
#define InterpreterData(...) template <class T> InterpreterData(T, ##__VA_ARGS__)
