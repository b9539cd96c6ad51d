#include "app/viewer/shader_cache.h"

#include <fcntl.h>

#include <cstdlib>
#include <string>

#include "compute/core/descriptor.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr off_t wanted_bytes = 4 << 20;  // the index takes 1.3 MB

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

fs::path shader_cache_folder() {
  constexpr const char* name = "mesa_shader_cache";
  for (const char* const parent : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
    if (const char* const folder = variable(parent)) return fs::path{folder} / name;
  }
  const char* const home = variable("HOME");
  return home ? fs::path{home} / ".cache" / name : fs::path{};
}

bool can_cache_in(fs::path folder) {
  std::error_code unknown;
  while (!folder.empty() && !fs::exists(folder, unknown) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  std::string name = (folder / "orrery-XXXXXX").string();
  const Descriptor file{mkostemp(name.data(), O_CLOEXEC)};
  if (!file) return false;
  fs::remove(name, unknown);
  return posix_fallocate(file.number(), 0, wanted_bytes) == 0;
}

void check_shader_cache() {
  if (!can_cache_in(shader_cache_folder())) setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
}

}  // namespace orrery
