// `orrery view` with two kernels that lose their device in the tenth evaluation, and one that hangs in it; all run on
// the processor, so that no GPU is needed. "edited" and "hanging" stand for kernels from a file, "built-in" for one of
// the program's own.
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/verb.h"
#include "app/cli/view_verb.h"
#include "app/window/run_view.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

int run(std::vector<std::string> words) {
  const std::optional<std::filesystem::path> handover = take_handover(words);
  NextProgram next{.words = words};
  int status = 1;
  {
    KernelCatalog kernels;
    KernelInfo edited = test::kernel_info("edited", create_kernel<test::LosesItsDevice>);
    edited.compiles = true;
    kernels.put(edited);
    KernelInfo hanging = test::kernel_info("hanging", create_kernel<test::HangingKernel>);
    hanging.compiles = true;
    kernels.put(hanging);
    kernels.put(test::kernel_info("built-in", create_kernel<test::LosesItsDevice>));
    const std::unique_ptr<Verb> verb = parse_options(kernels, words, handover.has_value());
    const ViewOptions& given = dynamic_cast<const ShownVerb&>(*verb).options;
    try {
      status = run_view(kernels, handover ? options_after_handover(given, *handover) : given, &next);
    } catch (const std::exception& error) {
      std::cerr << error.what() << (handover ? "; " + continuation(*handover) : "") << '\n';
    }
  }
  if (next.folder.empty()) return status;
  std::cerr << start_anew(next.folder, next.words) << '\n';
  return 1;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  try {
    return orrery::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
