#pragma once

#include <any>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// A command of the window. Its struct has a row in the table of a feature, such as race_commands.
class ViewCommand {
 public:
  template <class C>
  requires(std::is_aggregate_v<C> && !AlternativeOf<C, Command::Variant>) ViewCommand(C command)
      : value_{std::move(command)} {}

  const std::type_info& type() const { return value_.type(); }
  /// Returns the command if it is a `C`; null otherwise.
  template <class C>
  const C* get_if() const {
    return std::any_cast<C>(&value_);
  }
  template <class C>
  C* get_if() {
    return std::any_cast<C>(&value_);
  }

 private:
  std::any value_;
};

/// A command that panels, keys or scripts ask for. The viewer executes requests in order at the start of the next
/// frame.
struct Request : std::variant<Command, ViewCommand> {
  Request() = default;
  Request(Command command) : variant{std::move(command)} {}
  Request(ViewCommand command) : variant{std::move(command)} {}
  Request(AlternativeOf<Command::Variant> auto command) : variant{Command{std::move(command)}} {}
  template <class C>
  requires(std::is_constructible_v<ViewCommand, C> && !std::is_same_v<C, ViewCommand> && !std::is_same_v<C, Request>)
      Request(C command)
      : variant{ViewCommand{std::move(command)}} {}
};
using Requests = std::vector<Request>;

/// Returns the command in `request` if it is a `C`; null otherwise.
template <class C>
const C* command_if(const Request& request) {
  if constexpr (AlternativeOf<C, Command::Variant>) {
    const auto* command = std::get_if<Command>(&request);
    return command ? std::get_if<C>(command) : nullptr;
  } else {
    const auto* command = std::get_if<ViewCommand>(&request);
    return command ? command->get_if<C>() : nullptr;
  }
}

/// An activity that needs the whole machine, and the ways to stop it.
struct MachineUser {
  const char* name;     ///< "a race"
  const char* state;    ///< "a race is being measured"
  const char* button;   ///< where the window's button to stop it is
  const char* command;  ///< script command that stops it
  const char* title;    ///< "Race"
  Request (*stop)();
};

}  // namespace orrery
