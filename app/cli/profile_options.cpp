// The options of `orrery profile`.
#include <CLI/CLI.hpp>

#include "app/cli/option_parts.h"
#include "app/cli/start_options.h"
#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {

void declare_profile(CLI::App& app, OptionDraft& draft) {
  ProfileOptions& profile = draft.profile;
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add_measured_kernels(app, draft);
  add_kernel_file(app, draft, FileKernelUse::plain, "profiles a kernel of your own; repeatable");
  add_setting_lists(app, draft);
  add_law(app, draft, joined_ids(laws()));
  add_file(app, "--baseline", "compares with the last profile in this JSON file", profile.baseline_file);
  add_flag(app, "--marks-only", profile.marks_only,
           "reads no counters; marks one evaluation with cudaProfilerStart and -Stop, for another profiler");
  add_table_flags(app, profile.table);
  add_file(app, "--csv", "writes all numbers as CSV", profile.files.csv);
  add_file(app, "--json", "writes the profiles as JSON; -: to standard output", profile.files.json);
  add_force(app, draft);
  add_device(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery profile --kernels cuda-branchy,cuda-naive,cuda-tiled -n 16k\n"
      "  orrery profile --kernels cuda-tiled --set block=128,256 -n 64k --json new.json --baseline old.json\n"
      "  orrery profile --kernels cpu-simd -n 16k\n"
      "  orrery profile --kernel-file my-kernel.cu -n 64k\n"
      "\nEach variant is compared with the first, or with the baseline. Hardware counters need CUPTI of CUDA 12.6 or "
      "later and the right to profile; a kernel on the CPU gets its vector width, threads and share of the FMA limit.");
}

ProfileOptions finish_profile(OptionDraft& draft) {
  ProfileOptions& profile = draft.profile;
  profile.accuracy = accuracy_of_auto(draft);
  check_axes(draft.selection, draft.axes);
  profile.scene = draft.scene_of_one_count();
  profile.kernels = draft.selection;
  profile.axes = draft.axes;
  profile.setup = draft.physics;
  profile.files.existing = draft.existing();
  profile.device = draft.device;
  for (std::string* file : {&profile.files.csv, &profile.files.json}) {
    if (*file == "-") *file = "/dev/stdout";
  }
  if (profile.marks_only && (!profile.files.csv.empty() || !profile.files.json.empty())) {
    throw UsageError("--marks-only reads no counters: leave out --csv and --json");
  }
  return profile;
}

}  // namespace orrery
