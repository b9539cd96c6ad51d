#pragma once

#include <string>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {

/// Why no measurement can start now, and how to end what is in its way; empty: one can.
std::string machine_in_use(const ViewStatus& view);

/// What is being measured and how far it is, in one line, with a button that stops it. Call only while measuring().
void measurement_row(const ViewStatus& view, Requests& out);

}  // namespace orrery
