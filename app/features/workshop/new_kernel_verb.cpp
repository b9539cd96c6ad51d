#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "app/cli/verb.h"
#include "app/text/console.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {
namespace {

/// `orrery new-kernel`: writes a kernel file, unless the file exists.
struct NewKernelVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add("NAME", "NAME", "the kernel's id; the file is NAME.cu", [this](const std::string& text) { id = text; });
    line.add("--from", "ID", fmt::format("what it starts from: {} ({})", joined(starting_points()), from),
             [this](const std::string& text) { from = text; });
    line.add_footer(
        "Examples:\n"
        "  orrery new-kernel my-kernel\n"
        "  orrery new-kernel my-kernel --from cuda-tiled\n"
        "  orrery verify --kernel-file my-kernel.cu\n"
        "\nWrites a file that compiles. See docs/usage/kernels-of-your-own.md. An existing file is never overwritten.");
  }

  void finish(const CommandLine& line) override {
    if (id.empty()) {
      throw UsageError("'orrery new-kernel' needs the name of the kernel, such as 'orrery new-kernel my-kernel'");
    }
    (void)new_kernel_file(line.kernels, id, from);  // throws if they make no kernel file
  }

  int run(const Program& /*program*/) const override {
    const std::string file = id + ".cu";
    std::error_code unknown;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, unknown))) {
      throw std::runtime_error(fmt::format("'{}' exists already: choose another name, or remove it", file));
    }
    const std::string written = write_file(file, new_kernel_text(id, from), Existing::keep);
    console::print("wrote {}\nCheck it:    orrery verify --kernel-file {}\nWatch it:    orrery view --kernel-file {}\n",
                   written, written, written);
    return 0;
  }

  std::string id;
  std::string from = "tiled";
};

}  // namespace

extern constinit const VerbInfo new_kernel_verb{"new-kernel", "writes a kernel file, to start from",
                                                create_verb<NewKernelVerb>};

}  // namespace orrery
