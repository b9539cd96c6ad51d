#include "app/cli/new_kernel_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "app/text/console.h"
#include "compute/core/atomic_file.h"
#include "compute/kernels/runtime/new_kernel.h"

namespace orrery {

int run_new_kernel(const NewKernelOptions& options) {
  const std::string file = options.id + ".cu";
  std::error_code unknown;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, unknown))) {
    throw std::runtime_error(fmt::format("'{}' exists already: choose another name, or remove it", file));
  }
  const std::string written = write_file(file, new_kernel_text(options.id, options.from), Existing::keep);
  console::print("wrote {}\nCheck it:    orrery verify --kernel-file {}\nWatch it:    orrery view --kernel-file {}\n",
                 written, written, written);
  return 0;
}

}  // namespace orrery
