// The commands of the command line, each in a file of its name: run_bench() in bench_command.cpp.
#pragma once

#include <functional>

#include "app/cli/options.h"
#include "app/report/page.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// `orrery bench`. Settings that the device cannot run are listed as skipped. After a run-time failure everything else
/// is measured, and the exit status is 1. Throws UsageError or std::runtime_error.
int run_bench(const Backends& backends, const BenchOptions& options);

/// `orrery compare`: runs two variants from the same bodies and prints how they diverge. Returns the exit status.
/// Throws UsageError, and std::runtime_error after it has printed what was measured.
int run_compare(const Backends& backends, const CompareOptions& options);

/// `orrery convert`: returns the exit status. Throws std::runtime_error if a file cannot be read or written.
int run_convert(const ConvertOptions& options);

/// `orrery info`: reports devices, drivers and OpenGL, tries a kernel of each backend, and says how to fix what fails.
/// Returns the exit_status() of the machine's health.
int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl);

/// `orrery inspect`: returns the exit status. `draw` makes the picture, if one is wanted. Throws std::runtime_error if
/// the file cannot be used or the picture cannot be written.
int run_inspect(const InspectOptions& options, const std::function<ReportPicture()>& draw);

/// `orrery kernels`: every kernel of this build with its tunables, its source in the literature and whether it runs
/// here.
int run_kernels(const Backends& backends, const KernelsOptions& options);

/// `orrery lesson`: lists the lessons, or prints one, measures it and prints its answer. Throws UsageError or
/// std::runtime_error.
int run_lesson(const KernelCatalog& kernels, const LessonOptions& options);

/// `orrery new-kernel`: writes a kernel file. Throws UsageError; std::runtime_error if the file exists or cannot be
/// written.
int run_new_kernel(const NewKernelOptions& options);

/// `orrery race`: runs combinations of kernels, integrators and time steps to the same time and prints what each costs.
/// Returns the exit status. Throws UsageError and std::runtime_error.
int run_race(const Backends& backends, const RaceOptions& options);

/// `orrery replay`: returns the exit status, 1 if a state differs. Throws UsageError or std::runtime_error for a file
/// that cannot be replayed here.
int run_replay(const Backends& backends, const ReplayOptions& options);

/// The number of bodies in the picture: the largest that is measured.
SceneRequest pictured_scene(const Backends& backends, const ReportOptions& options);

/// `orrery report`. Measures as run_bench() does, and writes the page. A variant that failed is on the page, and the
/// exit status is 1. Throws UsageError or std::runtime_error.
int run_report(const Backends& backends, const ReportOptions& options, ReportPicture picture, const GlReport& gl);

/// `orrery run`. Exit status 0 at the end of the run, that of the signal where it was stopped. Throws UsageError or
/// std::runtime_error.
int run_simulation(const Backends& backends, const RunOptions& options);

/// `orrery verify`. Exit status 1 when a kernel misses its own tolerance or fails. Throws UsageError or
/// std::runtime_error.
int run_verify(const Backends& backends, const VerifyOptions& options);

}  // namespace orrery
