#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace orrery::cuda {

/// Finds functions in a library that dlopen() opened. The library must stay open.
class LibraryFunctions {
 public:
  /// `called`: the library's name in messages, such as "NVML".
  LibraryFunctions(void* library, const char* called) : library_{library}, called_{called} {}

  /// Sets `function` to the library's function of this name. If the library has none, throws std::runtime_error that
  /// names both.
  template <class Function>
  void find(Function& function, const char* name) const {
    find_optional(function, name);
    if (!function) throw std::runtime_error(std::string{called_} + " has no function " + name);
  }
  /// Does the same, but sets `function` to null if the library has none.
  template <class Function>
  void find_optional(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }

 private:
  void* library_;
  const char* called_;
};

}  // namespace orrery::cuda
