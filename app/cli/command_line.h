#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/parse_value.h"
#include "compute/core/text.h"
#include "compute/kernels/catalog.h"

namespace CLI {

class App;

}  // namespace CLI

namespace orrery {

/// The command line of one verb. The verb declares its options here, in the order of its --help, and they are read in
/// this order; afterwards it asks which of them were given.
class CommandLine {
 public:
  using Reader = std::function<void(const std::string& text)>;

  /// `words`: without the program's name. `takes_over`: see parse_options().
  CommandLine(CLI::App& app, KernelCatalog& known_kernels, const std::vector<std::string>& all_words, bool taking_over)
      : kernels{known_kernels}, words{all_words}, takes_over{taking_over}, app_{app} {}

  KernelCatalog& kernels;  ///< kernel files are added
  const std::vector<std::string>& words;
  const bool takes_over;

  /// Adds an option that takes one value each time it is given; if `repeatable`, more than once. A name without '-' is
  /// that of an argument.
  void add(const std::string& names, const std::string& value, const std::string& help, const Reader& read,
           bool repeatable = false);
  /// Adds an option whose value, parse(name, text), goes to `target`.
  template <class Target, std::invocable<const char*, const std::string&> Parse>
  void add(const char* name, const std::string& value, const std::string& help, Target& target, Parse parse) {
    add(name, value, help, [&target, name, parse](const std::string& text) { target = parse(name, text); });
  }
  /// Adds an option that is a number in a range.
  template <class Target, class Number>
  void add(const char* name, const std::string& value, const std::string& help, Target& target,
           const Range<Number>& range) {
    add(name, value, help, [&target, name, range](const std::string& text) { target = parse_in(name, text, range); });
  }
  void add_file(const std::string& name, const std::string& help, std::string& file);
  void add_flag(const std::string& name, bool& value, const std::string& help);
  void add_flag(const std::string& name, const std::function<void()>& set, const std::string& help);
  /// Each of these arguments takes one word: CLI11 allows one list of words.
  void take_one_word_each(std::initializer_list<const char*> arguments);
  /// The examples and remarks at the end of --help.
  void add_footer(const std::string& text);

  /// Whether the option was given.
  bool given(const std::string& option) const;
  /// The last of these options that was given, in the order of their declarations; empty: none was.
  std::string last_given(std::initializer_list<const char*> options) const;

  /// Throws UsageError for a word that the verb does not take: it names the valid choices, and what was probably meant.
  void refuse_what_is_left() const;
  /// Throws UsageError if `word`, given in place of a file, is not a file but a number of bodies or nearly the name of
  /// a scene, a kernel or, on a command line without a verb, of a verb. Such a command line takes no word either that
  /// is not the name of a file and holds neither '.' nor '/'.
  void refuse_word_for_file(const std::string& word) const;

 private:
  std::string meant_by_option(const std::string& option, bool taken_elsewhere) const;
  std::string meant_by_word(const std::string& word) const;

  CLI::App& app_;
};

/// `text`, which must not be empty. Throws UsageError.
std::string file_name(const std::string& option, const std::string& text);

/// Whether the first word names a verb, or is an option of the program itself: "--help". Otherwise the verb is view.
bool names_verb(const std::vector<std::string>& words);

/// The first words of a command line that are no option and no file: names and aliases of verbs, "help", "version".
std::span<const std::string_view> known_verbs();

}  // namespace orrery
