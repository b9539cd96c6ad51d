#include "compute/kernels/runtime/file_kernel.h"

#include <utility>
#include <vector>

#include "compute/core/names.h"

#if ORRERY_HAVE_CUDA
#include "compute/kernels/runtime/loaded_file_kernel.h"
#endif

namespace orrery {

std::string no_file_kernels() {
  return ORRERY_HAVE_CUDA ? ""
                          : "this build has no CUDA kernels: install the CUDA toolkit, 12.8 or later, and build again";
}

void require_free_id(const KernelCatalog& kernels, const KernelFile& file) {
  const KernelPtr present = kernels.find_or_null(file.id);
  const bool reserved = file.id == "auto" || file.id == "all";
  if (!reserved && (!present || present->revision > 0)) return;
  throw KernelFileError{file.name,
                        {{file.id_line, true,
                          "the id '" + file.id + "' is " + (reserved ? "reserved" : "that of a built-in kernel") +
                              "; choose another one. Taken: " + joined_ids(kernels.all())}}};
}

KernelPtr put_file_kernel(KernelCatalog& kernels, std::shared_ptr<const KernelFile> file, int version,
                          [[maybe_unused]] FileKernelUse use, [[maybe_unused]] const Compiler& compiler) {
  require_free_id(kernels, *file);
  if (const std::string reason = no_file_kernels(); !reason.empty()) {
    throw UsageError(file->name + ": a kernel file needs CUDA, and " + reason);
  }
  std::vector<std::vector<const char*>> values;
  std::vector<Tunable> tunables;
  for (const FileTunable& tunable : file->tunables) {
    std::vector<const char*>& list = values.emplace_back();
    for (const std::string& value : tunable.values) list.push_back(value.c_str());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FileTunable& tunable = file->tunables[i];
    tunables.push_back({.name = tunable.name.c_str(),
                        .notes = tunable.notes.c_str(),
                        .values = values[i],
                        .initial = tunable.initial.c_str()});
  }
  const std::string source = "file " + file->name + ", version " + std::to_string(version);
  return kernels.put(
      {.id = file->id.c_str(),
       .title = file->title.c_str(),
       .notes = file->notes.c_str(),
       .source = source.c_str(),
       .lesson = "A kernel of your own: see docs/usage/kernels-of-your-own.md.",
       .backend = Backend::cuda,
       .tunables = tunables,
       .tolerance = file->tolerance,
       .repeatable = false,  // not known
       .takes_targets = true,
       .compiles = true,
       .create = [=](const Settings& settings, const cuda::Device* device) -> std::unique_ptr<ForceKernel> {
#if ORRERY_HAVE_CUDA
         if (device) return load_file_kernel(file, settings, *device, use, compiler);
         compile_for_all_laws(*file, settings.values(), usual_architecture, compiler);
         return nullptr;
#else
         (void)settings, (void)device;
         return nullptr;
#endif
       },
       .file_text = file->text.c_str(),
       .file_version = version});
}

}  // namespace orrery
