#include <cstdlib>
#include <string_view>

#include "app/commands/command_text.h"
#include "tests/fuzz/input.h"

/// A command that JSON holds is the same after a way through text, and after one through JSON.
int fuzz_command(const std::uint8_t* data, std::size_t size) {
  return orrery::fuzz::accept_refusals([&] {
    const orrery::Request read = orrery::command_of_json_text({reinterpret_cast<const char*>(data), size});
    const orrery::Json json = orrery::command_json(read);
    if (orrery::command_json(orrery::command_of(json)) != json) std::abort();
    if (orrery::command_json(orrery::parse_command(orrery::command_text(read))) != json) std::abort();
  });
}
