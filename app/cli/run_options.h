#pragma once

#include "app/cli/option_draft.h"

namespace orrery {

/// Declares the options of `orrery run`; reading them fills `draft`, which must outlive `app`.
void declare_run(CLI::App& app, OptionDraft& draft);
/// Throws UsageError for options that do not go together.
RunOptions finish_run(OptionDraft& draft);

}  // namespace orrery
