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

/// What the first word of a command line may be, besides options and a file.
std::span<const std::string_view> subcommands();

/// The words of a command line with `help`, `help SUBCOMMAND` and `version` as the options of the same meaning. Throws
/// UsageError for other words after these.
std::vector<std::string> with_help_as_option(const std::vector<std::string>& words);

/// Throws UsageError that names `argument`, which `subcommand` has no use for, what could have stood there, and what
/// was probably meant. `words` is the command line.
[[noreturn]] void refuse_argument(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& argument,
                                  const std::vector<std::string>& words);

/// Throws UsageError if `word`, which stands where a file may, is no file but a number of bodies or nearly the name of
/// a scene, a kernel or, with `implied`, a subcommand. With `implied`, any word that no file is named and that holds
/// neither '.' nor '/' is refused.
void refuse_word_for_file(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& word,
                          bool implied);

}  // namespace orrery
