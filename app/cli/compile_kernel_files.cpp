#include "app/cli/compile_kernel_files.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "app/process/check_kernel.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {
namespace {

/// Its messages, each with the settings that it comes from.
KernelFileError with_settings(const KernelFileError& error, const Settings& settings) {
  std::vector<FileMessage> messages = error.messages();
  for (FileMessage& message : messages) message.text = fmt::format("with {}: {}", settings.to_string(), message.text);
  return {error.file(), std::move(messages)};
}

}  // namespace

void compile_kernel_files(const Backends& backends) {
  if (backends.device()) return;
  for (const KernelPtr& kernel : backends.kernels().all()) {
    if (!kernel->file_text) continue;
    try {
      kernel->create(Settings{*kernel}, nullptr);
    } catch (const KernelFileError&) {
      throw;
    } catch (const std::runtime_error&) {
      // There is no compiler either. The caller says that there is no GPU, which has to be cured first.
    }
  }
}

void compile_settings(const Backends& backends, const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    try {
      (void)variant.kernel->create(variant.settings, backends.device());
    } catch (const KernelFitError&) {
      // Its check says so.
    } catch (const KernelFileError& error) {
      if (variant.settings == Settings{*variant.kernel}) throw;
      throw with_settings(error, variant.settings);
    } catch (const std::runtime_error&) {
      return;  // no compiler, or no memory on the GPU: the caller meets it again
    }
  }
  if (variants.empty()) return;
  console::print_error("note: {}\n", compiled_note(variants.front().kernel->id, variants.size()));
}

}  // namespace orrery
