#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/ranks/communicator.h"

namespace orrery {

/// Call first, in every rank. `program` names the program and its build. Throws std::runtime_error in rank 0, with the
/// names of both, if another rank runs another program.
void check_same_program(Communicator& ranks, std::string_view program);
/// Call next. Throws std::runtime_error in rank 0 if another rank was started with other words behind the program's
/// name: only rank 0 carries them out.
void check_same_words(Communicator& ranks, const std::vector<std::string>& words);

}  // namespace orrery
