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

/// The command line of one verb. The verb declares its options in the order of --help; they are also read in this
/// order. Afterwards the verb queries which of them were given.
class CommandLine {
 public:
  using Reader = std::function<void(const std::string& text)>;

  /// `all_words` leaves out the program's name. `taking_over`: see parse_options().
  CommandLine(CLI::App& app, KernelCatalog& known_kernels, const std::vector<std::string>& all_words, bool taking_over)
      : kernels{known_kernels}, words{all_words}, takes_over{taking_over}, app_{app} {}

  KernelCatalog& kernels;  ///< catalog to which kernel files are added
  const std::vector<std::string>& words;
  const bool takes_over;

  /// Adds an option with one value. If `repeatable`, it may be given more than once. A name without '-' is a positional
  /// argument.
  void add(const std::string& names, const std::string& value, const std::string& help, const Reader& read,
           bool repeatable = false);
  /// Adds an option whose value, parse(name, text), is stored in `target`.
  template <class Target, std::invocable<const char*, const std::string&> Parse>
  void add(const char* name, const std::string& value, const std::string& help, Target& target, Parse parse) {
    add(name, value, help, [&target, name, parse](const std::string& text) { target = parse(name, text); });
  }
  /// Adds an option whose value is a number in a range.
  template <class Target, class Number>
  void add(const char* name, const std::string& value, const std::string& help, Target& target,
           const Range<Number>& range) {
    add(name, value, help, [&target, name, range](const std::string& text) { target = parse_in(name, text, range); });
  }
  void add_file(const std::string& name, const std::string& help, std::string& file);
  void add_flag(const std::string& name, bool& value, const std::string& help);
  void add_flag(const std::string& name, const std::function<void()>& set, const std::string& help);
  /// Limits each of these arguments to one word, because CLI11 allows only one argument that is a list.
  void take_one_word_each(std::initializer_list<const char*> arguments);
  /// Adds examples and remarks at the end of --help.
  void add_footer(const std::string& text);

  /// Returns whether the option was given.
  bool given(const std::string& option) const;
  /// Returns the last of these options that was given, in the order of the list; empty if none was.
  std::string last_given(std::initializer_list<const char*> options) const;

  /// Throws UsageError for a word that the verb does not take. Lists the valid choices, and suggests what was probably
  /// meant.
  void refuse_what_is_left() const;
  /// Refuses `word` in place of a file if no such file exists, and it looks like a number of bodies, a scene or a
  /// kernel. On a command line without a verb, refuses every word that is no file and contains neither '.' nor '/'.
  /// Throws UsageError.
  void refuse_word_for_file(const std::string& word) const;

 private:
  std::string meant_by_option(const std::string& option, bool taken_elsewhere) const;
  std::string meant_by_word(const std::string& word) const;

  CLI::App& app_;
};

/// Returns `text`, the name of a file. Throws UsageError if it is empty.
std::string file_name(const std::string& option, const std::string& text);

/// Returns whether the first word names a verb, or is an option of the program itself, such as "--help". Otherwise the
/// verb is view.
bool names_verb(const std::vector<std::string>& words);

/// Returns the words that may begin a command line, besides options and files: names and aliases of verbs, "help",
/// "version".
std::span<const std::string_view> known_verbs();

}  // namespace orrery
