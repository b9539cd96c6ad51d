#pragma once

#include <string>
#include <vector>

#include "app/cli/option_draft.h"

namespace orrery {

/// The kernel to start with. If settings are given without a kernel, they are those of the default one, which depends
/// on the device: it may be any. Throws UsageError if they are given for `auto`.
KernelSelection first_kernel(const OptionDraft& draft);
/// Appends what selects the first kernel to `setup`; of the default kernel, which is not known yet, fills `settings`.
void set_first_kernel(Commands& setup, Settings::Values& settings, const KernelSelection& first,
                      const std::vector<Axis>& axes);

/// Each throws UsageError; `option` is the one that names the kernel.
[[noreturn]] void refuse_settings_of_auto(const OptionDraft& draft, const char* option);
void refuse_accuracy_of_a_kernel(const OptionDraft& draft, const char* option);
/// The accuracy of the kernels that `auto` stands for in --kernels. Throws UsageError if settings are given for `auto`
/// alone, or an accuracy without it.
double accuracy_of_auto(const OptionDraft& draft);

/// Appends the law that --law names, if any.
void add_law_command(OptionDraft& draft);
/// Throws UsageError if a constant of attract-repel was given, but not its law.
void refuse_constants_without_their_law(const OptionDraft& draft, bool has_law);
/// Throws UsageError if --eta was given, but no integrator uses it: neither that of --integrator nor one of `others`.
void refuse_eta_without_block_steps(const OptionDraft& draft, const std::vector<std::string>& others = {});

/// Throws UsageError for an option that cannot go with --resume: bodies, kernel and physics are the checkpoint's.
void refuse_what_a_checkpoint_decides(const OptionDraft& draft);

}  // namespace orrery
