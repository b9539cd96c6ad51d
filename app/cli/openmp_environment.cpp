#include "app/cli/openmp_environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace orrery {

void prepare_openmp(char** argv) {
  constexpr std::array said_by{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};  // the last two: GNU's and LLVM's
  (void)setenv("KMP_WARNINGS", "0", 0);
  if (std::ranges::any_of(said_by, [](const char* name) { return std::getenv(name); })) return;
  if (getauxval(AT_BASE) == 0) return;  // started by hand through the loader, which /proc/self/exe would name
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown || setenv(said_by.front(), "passive", 0) != 0) return;
  execv(program.c_str(), argv);
}

}  // namespace orrery
