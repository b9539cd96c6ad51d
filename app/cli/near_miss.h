#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/catalog.h"

namespace CLI {
class App;
}

namespace orrery {

/// The first words of a command line that are no option and no file.
std::span<const std::string_view> subcommands();

/// The words of a command line with `help`, `help SUBCOMMAND` and `version` as the options of the same meaning. Throws
/// UsageError for other words after these.
std::vector<std::string> with_help_as_option(const std::vector<std::string>& words);

/// Throws UsageError that names `argument`, which `subcommand` does not take, the valid choices, and what was probably
/// meant. `words` is the command line.
[[noreturn]] void refuse_argument(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& argument,
                                  const std::vector<std::string>& words);

/// Throws UsageError if `word`, given in place of a file, is not a file but a number of bodies or nearly the name of a
/// scene, a kernel or, with `implied`, a subcommand. With `implied`, it also refuses any word that is not the name of a
/// file and holds neither '.' nor '/'.
void refuse_word_for_file(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& word,
                          bool implied);

}  // namespace orrery
