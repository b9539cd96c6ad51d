#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verb.h"
#include "tests/fuzz/input.h"

/// Each line is an argument. Only reads files, and those that the arguments name.
int fuzz_command_line(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return orrery::fuzz::accept_refusals([&] {
    orrery::KernelCatalog kernels;
    (void)orrery::parse_options(kernels, arguments);
  });
}
