#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A __global__ function in CUDA C++.
struct FoundFunction {
  std::string name;     ///< empty if no function follows the word
  int line = 1;         ///< of __global__, from 1
  bool nested = false;  ///< between braces: in a namespace or a class
};

/// The functions with __global__ before them, in their order. Ignores comments and texts.
std::vector<FoundFunction> find_global_functions(std::string_view source);

}  // namespace orrery
