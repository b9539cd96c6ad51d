#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "app/text/csv.h"
#include "app/ui_state/command.h"

namespace orrery {

/// One argument of a command, independent of its type. Each function takes a request that holds the command of this
/// argument. Functions that read throw UsageError with a text that begins with `what`.
class ArgumentEntry {
 public:
  struct Traits {
    std::string_view name;
    bool optional = false, is_number = false;
    bool is_text = false, is_list = false;
    Form form = Form::plain;
  };

  explicit ArgumentEntry(const Traits& traits) : traits_{traits} {}
  virtual ~ArgumentEntry() = default;
  ArgumentEntry(const ArgumentEntry&) = delete;
  ArgumentEntry& operator=(const ArgumentEntry&) = delete;

  const Traits& traits() const { return traits_; }
  std::string_view name() const { return traits_.name; }

  /// Returns what the argument may be: "a number above 0 and below 1, or exact"; empty if any text is accepted.
  virtual std::string allowed() const = 0;
  /// Returns the placeholder in a usage line: "ID", "on|off", "VALUE|exact".
  virtual std::string placeholder() const = 0;

  /// Reads the argument. A list grows by the comma-separated parts of `text`.
  virtual void read(std::string_view what, std::string_view text, Request& to) const = 0;
  virtual std::string text(const Request& request) const = 0;
  virtual void read_json(std::string_view what, const Json& json, Request& to) const = 0;
  virtual Json json(const Request& request) const = 0;
  /// Throws UsageError unless numbers are in range and names are known.
  virtual void check(const std::string& what, const Request& request) const = 0;
  virtual bool equal(const Request& a, const Request& b) const = 0;

 private:
  Traits traits_;
};

/// Description of a command, for code that treats all commands alike.
struct CommandEntry {
  const char* name = nullptr;
  const char* sentence = nullptr;
  std::array<ShortForm, 2> short_forms{};
  std::vector<std::unique_ptr<const ArgumentEntry>> arguments;
  Request initial;  ///< the command, with value-initialized arguments

  /// Returns whether the argument with this index may be given without its name.
  bool is_positional(std::size_t index) const;
  /// Returns whether the argument may be omitted and is omitted in this request.
  bool is_left_out(const ArgumentEntry& argument, const Request& request) const {
    return argument.traits().optional && argument.equal(request, initial);
  }
  /// Returns the name of an argument in messages: "dt", "sweep n".
  std::string label(const ArgumentEntry& argument) const;
  /// Throws UsageError unless all given arguments are allowed.
  void check(const Request& request) const;
  /// Returns the arguments as in a usage line: "[TUNABLES...] [n=N,...]".
  std::string usage() const;
  /// Throws UsageError for an unknown argument; lists the known ones.
  [[noreturn]] void refuse_argument(std::string_view name) const;
};

/// Returns all commands: of the simulation, the window and its features, in the order of their tables.
const std::vector<CommandEntry>& command_entries();
const CommandEntry& entry_of(const Request& request);
/// Returns the entry of a command's struct type, which must have a row in a table.
const CommandEntry& entry_of(const std::type_info& command);

}  // namespace orrery
