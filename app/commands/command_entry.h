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

/// One argument of a row, whatever its type. Each function takes a request that holds a command of that row; those that
/// read throw UsageError that begins with `what`.
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

  /// Returns what the argument may be: "a number above 0 and below 1, or exact"; empty if any text may be tried.
  virtual std::string allowed() const = 0;
  /// Returns its placeholder in a usage line: "ID", "on|off", "VALUE|exact".
  virtual std::string placeholder() const = 0;

  /// A list grows by the parts of `text`.
  virtual void read(std::string_view what, std::string_view text, Request& to) const = 0;
  virtual std::string text(const Request& request) const = 0;
  virtual void read_json(std::string_view what, const Json& json, Request& to) const = 0;
  virtual Json json(const Request& request) const = 0;
  /// Throws unless numbers are in their range and names known.
  virtual void check(const std::string& what, const Request& request) const = 0;
  virtual bool equal(const Request& a, const Request& b) const = 0;

 private:
  Traits traits_;
};

/// The row of a command, for code that treats all commands alike.
struct CommandEntry {
  const char* name = nullptr;
  const char* sentence = nullptr;
  std::array<ShortForm, 2> short_forms{};
  std::vector<std::unique_ptr<const ArgumentEntry>> arguments;
  Request initial;  ///< the command, value-initialized

  /// Whether the argument at this place may stand without its name.
  bool is_positional(std::size_t index) const;
  /// Whether it may be left out of this request, and is.
  bool is_left_out(const ArgumentEntry& argument, const Request& request) const {
    return argument.traits().optional && argument.equal(request, initial);
  }
  /// How messages call an argument: "dt", "sweep n".
  std::string label(const ArgumentEntry& argument) const;
  /// Throws UsageError unless the arguments that are given are allowed.
  void check(const Request& request) const;
  /// The arguments as a usage line shows them: "[TUNABLES...] [n=N,...]".
  std::string usage() const;
  /// Throws UsageError that names the choices.
  [[noreturn]] void refuse_argument(std::string_view name) const;
};

/// The commands of the simulation, of the window and of its features, in the order of their tables.
const std::vector<CommandEntry>& command_entries();
const CommandEntry& entry_of(const Request& request);
/// `command`: the type of a command's struct, which must have a row in a table.
const CommandEntry& entry_of(const std::type_info& command);

}  // namespace orrery
