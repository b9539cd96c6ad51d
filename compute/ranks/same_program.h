#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/ranks/communicator.h"

namespace orrery {

/// Checks that all ranks run the same program. Call first, on every rank. `program` names the program and its build.
/// Throws std::runtime_error on rank 0, with both names, if another rank's differs.
void check_same_program(Communicator& ranks, std::string_view program);
/// Checks that all ranks were started with the same arguments, which only rank 0 carries out. Call next. Throws
/// std::runtime_error on rank 0 if they differ.
void check_same_words(Communicator& ranks, const std::vector<std::string>& words);

}  // namespace orrery
