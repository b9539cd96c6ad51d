#include "app/ui_state/command.h"

#include "compute/core/one_of.h"

namespace orrery {

template struct OneOf<ViewCommands>;
template struct OneOf<AllCommands>;

}  // namespace orrery
