#pragma once

#include <string_view>

#include "compute/ranks/communicator.h"

namespace orrery {

/// Call first, in every rank. `program` names the program and its build. Throws std::runtime_error in rank 0, with the
/// names of both, if another rank runs another program.
void check_same_program(Communicator& ranks, std::string_view program);

}  // namespace orrery
