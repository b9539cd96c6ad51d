// `orrery new-kernel`: writes a kernel file to start from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stdexcept>

#include "app/cli/commands.h"
#include "app/cli/option_parts.h"
#include "app/text/console.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/kernels/runtime/new_kernel.h"

namespace orrery {

void declare_new_kernel(CLI::App& app, OptionDraft& draft) {
  NewKernelOptions& options = draft.new_kernel;
  add(app, "NAME", "NAME", "the kernel's id; the file is NAME.cu", [&](const std::string& text) { options.id = text; });
  add(app, "--from", "ID", fmt::format("what it starts from: {} ({})", joined(starting_points()), options.from),
      [&](const std::string& text) { options.from = text; });
  app.footer(
      "Examples:\n"
      "  orrery new-kernel my-kernel\n"
      "  orrery new-kernel my-kernel --from cuda-tiled\n"
      "  orrery verify --kernel-file my-kernel.cu\n"
      "\nWrites a file that compiles. See docs/usage/kernels-of-your-own.md. An existing file is never overwritten.");
}

NewKernelOptions finish_new_kernel(const OptionDraft& draft) {
  const NewKernelOptions& options = draft.new_kernel;
  if (options.id.empty()) {
    throw UsageError("'orrery new-kernel' needs the name of the kernel, such as 'orrery new-kernel my-kernel'");
  }
  (void)new_kernel_file(draft.catalog, options.id, options.from);  // refuses what cannot be one
  return options;
}

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
