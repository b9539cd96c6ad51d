#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <typeindex>
#include <variant>

#include "app/commands/command_entry.h"
#include "app/ui_state/command.h"

namespace orrery {

/// The functions that carry out the commands of the window, one for each.
class Handlers {
 public:
  /// `part` carries out each command of the table from now on, by its function carry_out(const Command&). It must
  /// outlive this.
  template <class Part, class... Rows>
  void add(Part& part, const std::tuple<Rows...>& /*table*/) {
    (add_one<typename Rows::Command>(part), ...);
  }

  /// Throws std::logic_error that names a command that no part carries out.
  void require_all() const {
    for (const CommandEntry& entry : command_entries()) {
      const auto* command = std::get_if<ViewCommand>(&entry.initial);
      if (command && !handlers_.contains(command->type())) {
        throw std::logic_error(std::string{"no part carries out the command "} + entry.name);
      }
    }
  }

  /// Throws UsageError for a value out of its range, and what the command's part throws.
  void carry_out(const ViewCommand& command) const {
    entry_of(command.type()).check(command);
    handlers_.at(command.type())(command);
  }

 private:
  template <class C, class Part>
  void add_one(Part& part) {
    const auto carry_out = [&part](const ViewCommand& command) { part.carry_out(*command.get_if<C>()); };
    if (!handlers_.emplace(typeid(C), carry_out).second) {
      throw std::logic_error(std::string{"two parts carry out the command "} + entry_of(typeid(C)).name);
    }
  }

  std::map<std::type_index, std::function<void(const ViewCommand&)>> handlers_;
};

}  // namespace orrery
