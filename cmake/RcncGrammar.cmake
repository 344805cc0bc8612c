# rcnc_grammar: the lexer and parser that ANTLR generates from grammar/Rcn.g4 at build time.

find_program(RCNC_ANTLR antlr4 REQUIRED)
find_path(RCNC_ANTLR_INCLUDE antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(RCNC_ANTLR_RUNTIME NAMES libantlr4-runtime.a antlr4-runtime REQUIRED)
find_package(Threads REQUIRED)

set(rcnc_grammar_dir ${PROJECT_BINARY_DIR}/grammar)
set(rcnc_grammar_files
  ${rcnc_grammar_dir}/RcnLexer.h ${rcnc_grammar_dir}/RcnLexer.cpp
  ${rcnc_grammar_dir}/RcnParser.h ${rcnc_grammar_dir}/RcnParser.cpp)
add_custom_command(
  OUTPUT ${rcnc_grammar_files}
  COMMAND ${RCNC_ANTLR} -Dlanguage=Cpp -no-listener -no-visitor -o ${rcnc_grammar_dir} Rcn.g4
  DEPENDS ${PROJECT_SOURCE_DIR}/grammar/Rcn.g4
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/grammar
  COMMENT "Generating the parser from grammar/Rcn.g4"
  VERBATIM)

# Generated code: an older standard (the 4.9 runtime was made for it) and no warnings.
add_library(rcnc_grammar STATIC ${rcnc_grammar_files})
target_compile_features(rcnc_grammar PUBLIC cxx_std_17)
target_compile_options(rcnc_grammar PRIVATE -w)
set_target_properties(rcnc_grammar PROPERTIES CXX_CLANG_TIDY "")
target_include_directories(rcnc_grammar SYSTEM PUBLIC ${rcnc_grammar_dir} ${RCNC_ANTLR_INCLUDE})
target_link_libraries(rcnc_grammar PUBLIC ${RCNC_ANTLR_RUNTIME} Threads::Threads)

target_link_libraries(rcnc_syntax PRIVATE rcnc_grammar)
