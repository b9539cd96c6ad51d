#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/verb.h"
#include "app/text/table.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Prints a text: --help, --version and `orrery help script`.
struct ShowText final : Verb {
  explicit ShowText(std::string shown, bool as_it_is = false) : text{std::move(shown)}, unbroken{as_it_is} {}
  int run(const Program& program) const override;

  std::string text;
  bool unbroken;  ///< prints lines as they are, however long
};

/// `orrery help keys`.
struct ShowKeys final : Verb {
  explicit ShowKeys(bool in_markdown) : markdown{in_markdown} {}
  int run(const Program& program) const override;

  bool markdown;
};

/// The text of --help, with descriptions broken into lines that fit.
std::string fitted_help(const std::string& text, const TextStyle& style);

/// Reads a command line, given as its words without the program's name, and the script that it names. Returns the verb,
/// filled with its options. Adds kernel files to `kernels`. Opens no device: what depends on it comes later. Throws
/// UsageError; std::runtime_error if the script cannot be read. `takes_over`: the words are those of a window that this
/// program goes on for; the files with which that window began may be gone by now, and are not read.
std::unique_ptr<Verb> parse_options(KernelCatalog& kernels, const std::vector<std::string>& words,
                                    bool takes_over = false);

}  // namespace orrery
