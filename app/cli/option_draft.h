#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "compute/core/error.h"

namespace CLI {

class App;

}  // namespace CLI

namespace orrery {

/// Frames of an offscreen run if neither --frames nor a script ends it.
inline constexpr std::int64_t default_offscreen_frames = 300;

/// The options of one subcommand, before those that depend on each other are checked.
struct OptionDraft {
  explicit OptionDraft(KernelCatalog& known_kernels) : catalog{known_kernels} {}

  KernelCatalog& catalog;  ///< kernel files are added
  ViewOptions view;
  BenchOptions bench;
  ReportOptions report;
  VerifyOptions verify;
  RunOptions run;
  ReplayOptions replay;
  ProfileOptions profile;
  CompareOptions compare;
  RaceOptions race;
  KernelsOptions kernels;
  InfoOptions info;
  ConvertOptions convert;
  InspectOptions inspect;
  LessonOptions lesson;
  NewKernelOptions new_kernel;

  SceneRequest scene;
  std::string hint_option;  ///< the last option given that only a file takes
  bool scene_named = false;
  std::vector<int> counts;
  std::string generator_option;  ///< the last option given that only a generated scene takes
  bool seeded = false;
  std::string procedure_option;  ///< the last option given that a protocol decides
  KernelSelection selection{.kernels = catalog.all(), .all = true};
  KernelPtr kernel;  ///< of `orrery view`; null: auto, or none is named
  bool kernel_named = false;
  std::vector<KernelPtr> kernel_files;  ///< of --kernel-file
  std::string kernel_file;              ///< the last of them
  std::string described_kernel;         ///< of `orrery kernels`; empty: all of them
  std::vector<Axis> axes;
  Commands physics;
  std::optional<double> accuracy;
  std::optional<LawId> law;
  std::string attract_repel_option;  ///< the last option given that only this law uses
  std::optional<double> noise;
  std::optional<ByteOrder> save_order;
  std::optional<bool> panel, legend, vsync;
  std::string film;  ///< of `orrery render`
  double fps = FilmOptions{}.fps;
  bool progress = false;  ///< of `orrery render`
  std::optional<int> device;
  std::optional<DeviceList> devices;
  bool force = false;
  bool takes_over = false;  ///< see parse_options()

  /// `scene` with its one number of bodies. Throws UsageError if the scene cannot have so many.
  SceneRequest scene_of_one_count() const;
  /// Takes the device, or the several devices, that the user chose. Throws UsageError if both are given.
  template <class Options>
  void put_devices(Options& options) const {
    if (device && devices) throw UsageError("--device and --devices are both given: leave one out");
    options.device = device;
    options.devices = devices;
  }
  Existing existing() const { return force ? Existing::replace : Existing::keep; }
};

/// Each declares the options of one subcommand, next to its command; reading them fills `draft`, which must outlive
/// `app`.
void declare_view(CLI::App& app, OptionDraft& draft);
void declare_render(CLI::App& app, OptionDraft& draft);
void declare_bench(CLI::App& app, OptionDraft& draft);
void declare_report(CLI::App& app, OptionDraft& draft);
void declare_verify(CLI::App& app, OptionDraft& draft);
void declare_profile(CLI::App& app, OptionDraft& draft);
void declare_compare(CLI::App& app, OptionDraft& draft);
void declare_race(CLI::App& app, OptionDraft& draft);
void declare_run(CLI::App& app, OptionDraft& draft);
void declare_replay(CLI::App& app, OptionDraft& draft);
void declare_kernels(CLI::App& app, OptionDraft& draft);
void declare_info(CLI::App& app, OptionDraft& draft);
void declare_convert(CLI::App& app, OptionDraft& draft);
void declare_inspect(CLI::App& app, OptionDraft& draft);
void declare_lesson(CLI::App& app, OptionDraft& draft);
void declare_new_kernel(CLI::App& app, OptionDraft& draft);

/// Each checks the options that depend on each other, and returns all. Throws UsageError for options that are missing
/// or do not go together. `words` is the command line.
ViewOptions finish_view(OptionDraft& draft);
ViewOptions finish_render(OptionDraft& draft);
BenchOptions finish_bench(OptionDraft& draft);
ReportOptions finish_report(OptionDraft& draft, const std::vector<std::string>& words);
VerifyOptions finish_verify(OptionDraft& draft);
RunOptions finish_run(OptionDraft& draft);
ReplayOptions finish_replay(const OptionDraft& draft);
ConvertOptions finish_convert(const OptionDraft& draft);
InspectOptions finish_inspect(const OptionDraft& draft);
LessonOptions finish_lesson(const OptionDraft& draft);
NewKernelOptions finish_new_kernel(const OptionDraft& draft);
/// The same; draft.physics is complete.
ProfileOptions finish_profile(OptionDraft& draft);
CompareOptions finish_compare(OptionDraft& draft);
RaceOptions finish_race(OptionDraft& draft);

}  // namespace orrery
