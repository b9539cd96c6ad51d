// The option --kernel-file, and the options of `orrery new-kernel`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/cli/option_parts.h"
#include "app/workshop/compiler_process.h"
#include "app/workshop/read_kernel_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/stop_signal.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/new_kernel.h"

namespace orrery {

void add_kernel_file(CLI::App& app, OptionDraft& draft, FileKernelUse use, const std::string& help) {
  const auto read = [&draft, use](const std::string& text) {
    const std::string path = file_name("--kernel-file", text);
    const auto file = std::make_shared<const KernelFile>(read_kernel_file(path));
    const auto same_id = [&](const KernelPtr& other) { return other->id == file->id; };
    if (std::ranges::any_of(draft.kernel_files, same_id)) {
      throw KernelFileError{
          path,
          {{file->id_line, true,
            fmt::format("the id '{}' is that of another --kernel-file: give one of them another id", file->id)}}};
    }
    draft.kernel_files.push_back(
        put_file_kernel(draft.catalog, file, 1, use, CompilerProcess{.cancelled = stop_requested}));
    draft.kernel_file = path;
    draft.kernel = draft.kernel_files.front();
    draft.kernel_named = true;
    draft.selection = {.kernels = draft.kernel_files};
  };
  add(app, "--kernel-file", "FILE.cu", help, read, true);
}

void add_watched_kernel_file(CLI::App& app, OptionDraft& draft) {
  add(app, "--kernel-file", "FILE.cu",
      "opens a kernel of your own in the workshop: it runs once it is checked, and again whenever it is saved",
      [&draft](const std::string& text) {
        const std::string path = file_name("--kernel-file", text);
        if (draft.takes_over) return;
        require_free_id(draft.catalog, read_kernel_file(path));
        if (const std::string reason = no_file_kernels(); !reason.empty()) {
          throw UsageError(fmt::format("{}: a kernel file needs CUDA, and {}", path, reason));
        }
        draft.view.kernel_file = path;
      });
}

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

}  // namespace orrery
