# rcnc_torch: libtorch for runtime/, from Debian's libtorch-dev or, with RCNC_TORCH_DIR, from a pip-installed PyTorch.
# RCNC_TORCH_FOUND says whether there is one; without it rcnc-eager is not built and all else is.
#
# libtorch_cpu and libc10 are linked by path: the CMake packages of the wheels demand a CUDA toolchain.

set(RCNC_TORCH_FOUND FALSE)
if(RCNC_TORCH_DIR)
  set(rcnc_torch_search HINTS ${RCNC_TORCH_DIR} NO_DEFAULT_PATH)
else()
  set(rcnc_torch_search)
endif()
# Not cached: a changed RCNC_TORCH_DIR takes effect at once.
unset(RCNC_TORCH_INCLUDE CACHE)
unset(RCNC_TORCH_CPU CACHE)
unset(RCNC_TORCH_C10 CACHE)
find_path(RCNC_TORCH_INCLUDE ATen/ATen.h PATH_SUFFIXES include ${rcnc_torch_search})
find_library(RCNC_TORCH_CPU torch_cpu PATH_SUFFIXES lib ${rcnc_torch_search})
find_library(RCNC_TORCH_C10 c10 PATH_SUFFIXES lib ${rcnc_torch_search})
mark_as_advanced(RCNC_TORCH_INCLUDE RCNC_TORCH_CPU RCNC_TORCH_C10)

if(NOT RCNC_TORCH_INCLUDE OR NOT RCNC_TORCH_CPU OR NOT RCNC_TORCH_C10)
  if(RCNC_TORCH_DIR)
    set(rcnc_torch_reason "RCNC_TORCH_DIR=${RCNC_TORCH_DIR} has no include/ATen/ATen.h, lib/libtorch_cpu or lib/libc10")
  else()
    set(rcnc_torch_reason "install libtorch-dev and libopenblas0-openmp, or set RCNC_TORCH_DIR to the torch folder of a Python installation")
  endif()
  message(WARNING "rcnc-eager is not built: libtorch was not found (${rcnc_torch_reason}). "
                  "RCNC_EAGER=OFF silences this.")
  return()
endif()

# What the readers of files need, linked by path as well: no compiler flags, which the precompiled headers would mind.
# Indexes of TensorFlow's checkpoints are tables of LevelDB.
set(RCNC_FILE_LIBRARIES)
find_package(PkgConfig QUIET)
foreach(module libzip sndfile hdf5)
  if(PkgConfig_FOUND)
    pkg_check_modules(rcnc_${module} QUIET ${module})
  endif()
  if(NOT rcnc_${module}_FOUND)
    message(WARNING "rcnc-eager is not built: ${module} was not found (install libzip-dev, libsndfile1-dev and "
                    "libhdf5-dev). RCNC_EAGER=OFF silences this.")
    return()
  endif()
  list(APPEND RCNC_FILE_LIBRARIES ${rcnc_${module}_LINK_LIBRARIES})
endforeach()
if(PkgConfig_FOUND)
  pkg_check_modules(rcnc_libedit QUIET libedit)
endif()
find_path(RCNC_LEVELDB_INCLUDE leveldb/table.h)
find_library(RCNC_LEVELDB leveldb)
mark_as_advanced(RCNC_LEVELDB_INCLUDE RCNC_LEVELDB)
if(NOT RCNC_LEVELDB_INCLUDE OR NOT RCNC_LEVELDB)
  message(WARNING "rcnc-eager is not built: LevelDB was not found (install libleveldb-dev). RCNC_EAGER=OFF silences this.")
  return()
endif()
list(APPEND RCNC_FILE_LIBRARIES ${RCNC_LEVELDB})

add_library(rcnc_torch INTERFACE)
target_include_directories(rcnc_torch SYSTEM INTERFACE ${RCNC_TORCH_INCLUDE} ${RCNC_TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(rcnc_torch INTERFACE ${RCNC_TORCH_CPU} ${RCNC_TORCH_C10})

# Wheels up to PyTorch 2.5 were built with the old string ABI; what we compile against them must be too. Then no other
# library of ours may hand strings over, so such a wheel is refused rather than mixed.
file(STRINGS ${RCNC_TORCH_C10} rcnc_torch_new_abi REGEX "_ZN3c10.*cxx11" LIMIT_COUNT 1)
if(NOT rcnc_torch_new_abi)
  message(WARNING "rcnc-eager is not built: ${RCNC_TORCH_C10} was built with the C++ ABI of before GCC 5; "
                  "PyTorch 2.6 and later, and Debian's libtorch, are not.")
  return()
endif()

set(RCNC_TORCH_FOUND TRUE)
message(STATUS "libtorch: ${RCNC_TORCH_CPU}")
