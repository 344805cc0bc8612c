# rcnc_stage(NAME DEPENDENCY...): the static library rcnc_NAME of compiler/NAME/*.cpp.
# rcnc_own_code(TARGET): standard, warnings and include path of our own code.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
find_program(RCNC_CCACHE ccache)
if(RCNC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${RCNC_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RCNC_CCACHE})
endif()

function(rcnc_own_code target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                           -Wimplicit-fallthrough -Wunused)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # false alarms of GCC 12 in its own std::string
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(RCNC_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Debug builds check the graph after every pass.
add_compile_definitions($<$<CONFIG:Debug>:RCNC_VERIFY>)

function(rcnc_stage name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/${name}/*.cpp)
  add_library(rcnc_${name} STATIC ${sources})
  rcnc_own_code(rcnc_${name})
  foreach(dependency ${ARGN})
    target_link_libraries(rcnc_${name} PUBLIC rcnc_${dependency})
  endforeach()
endfunction()
