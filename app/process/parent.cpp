#include "app/process/parent.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

namespace orrery {

void end_with_parent() {
  const char* const variable = std::getenv(parent_variable);
  if (!variable) return;
  const std::string parent = variable;
  unsetenv(parent_variable);  // it is not the parent of this one's children
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "orrery");  // it may have been started by the name /proc/self/exe
  if (parent == std::to_string(getppid())) return;
  // The parent has ended meanwhile and nobody reads this, or the variable was left in the environment.
  constexpr std::string_view why =
      "orrery: ORRERY_PARENT is set, but is not the process that started this one: unset it\n";
  (void)!write(STDERR_FILENO, why.data(), why.size());
  std::_Exit(1);
}

}  // namespace orrery
