#include "compute/core/error.h"

#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

namespace orrery {
namespace {

std::string type_of(const std::exception& failure) {
  const char* const mangled = typeid(failure).name();
  int status = 0;
  char* const name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string text = name ? name : mangled;
  std::free(name);
  return text;
}

std::string text_of(const std::filesystem::filesystem_error& failure) {
  const std::string cause = failure.code().message();
  if (failure.path1().empty()) return cause;
  const std::string first = "'" + failure.path1().string() + "'";
  return (failure.path2().empty() ? first : first + " to '" + failure.path2().string() + "'") + ": " + cause;
}

/// Returns whether this program expects no such exception. Its own are std::runtime_error, or derive from it.
bool is_unexpected(const std::exception& failure) {
  return !dynamic_cast<const std::runtime_error*>(&failure) || dynamic_cast<const std::regex_error*>(&failure) ||
         dynamic_cast<const std::range_error*>(&failure) || dynamic_cast<const std::overflow_error*>(&failure) ||
         dynamic_cast<const std::underflow_error*>(&failure);
}

}  // namespace

bool is_of_library(const std::exception& failure) {
  const bool is_plain = dynamic_cast<const std::bad_alloc*>(&failure);
  return !is_plain && (is_unexpected(failure) || dynamic_cast<const std::system_error*>(&failure));
}

std::string failure_text(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure)) return "not enough memory";
  if (const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&failure))
    return text_of(*of_files);
  if (const auto* of_system = dynamic_cast<const std::system_error*>(&failure)) return of_system->code().message();
  if (is_unexpected(failure)) return "a case that the program does not expect (" + type_of(failure) + ")";
  return failure.what();
}

}  // namespace orrery
