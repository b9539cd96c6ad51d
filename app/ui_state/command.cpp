#include "app/ui_state/command.h"

#include "compute/sim/command_row.h"

namespace orrery {

template struct OneOf<ViewCommands>;
template struct OneOf<AllCommands>;

}  // namespace orrery
