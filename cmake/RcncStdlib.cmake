# rcnc_stdlib: stdlib/**/*.rcn in parsed form, made by the front end's own host tool. Errors in them fail the build.

add_executable(rcn-embed ${PROJECT_SOURCE_DIR}/compiler/syntax/embed/main.cpp)
target_link_libraries(rcn-embed PRIVATE rcnc_syntax)
rcnc_own_code(rcn-embed)

file(GLOB_RECURSE rcnc_stdlib_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/stdlib/*.rcn)
set(rcnc_stdlib_source ${PROJECT_BINARY_DIR}/stdlib_image.cpp)
add_custom_command(
  OUTPUT ${rcnc_stdlib_source}
  COMMAND rcn-embed ${PROJECT_SOURCE_DIR}/stdlib ${rcnc_stdlib_source} ${rcnc_stdlib_files}
  DEPENDS rcn-embed ${rcnc_stdlib_files}
  COMMENT "Parsing the standard library"
  VERBATIM)

add_library(rcnc_stdlib STATIC ${rcnc_stdlib_source})
rcnc_own_code(rcnc_stdlib)
target_link_libraries(rcnc_stdlib PUBLIC rcnc_syntax)
