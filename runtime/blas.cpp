#include "runtime/blas.h"

#include <dlfcn.h>

namespace rcn {

std::optional<std::string> slow_blas() {
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info;
  // A libtorch that has its own BLAS inside exports none.
  if (!sgemm || dladdr(sgemm, &info) == 0 || !info.dli_fname) return std::nullopt;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return std::nullopt;
  // What each optimised library has besides the interface they share.
  bool fast = false;
  for (const char* name : {"openblas_get_config", "MKL_Get_Version", "mkl_get_version", "bli_info_get_version_str",
                           "ATL_buildinfo", "armplversion_", "nvpl_blas_get_version", "flexiblas_get_version"})
    fast = fast || dlsym(library, name) != nullptr;
  dlclose(library);
  if (fast) return std::nullopt;
  return std::string(info.dli_fname);
}

}  // namespace rcn
