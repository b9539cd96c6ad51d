#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/lab/baseline.h"
#include "app/lab/divergence/paired_run.h"
#include "app/lab/force_promise.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/runs/run_order.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "app/ui_state/view_options.h"
#include "compute/devices/device_list.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

struct BenchOptions {
  SceneRequest scene;       ///< its count is 0: see counts
  std::vector<int> counts;  ///< never empty; 0 stands for the scene's own
  KernelSelection kernels;
  double accuracy = default_accuracy;  ///< of the kernels that `auto` stands for
  std::vector<Axis> axes;
  Commands setup;        ///< integrator, law and their constants
  int warmup_steps = 3;  ///< at least 2 are made
  int repeats = 10;
  bool uth = false;  ///< as uth_protocol has it; warmup_steps and repeats are ignored
  ResultNames files;
  std::vector<std::string> baseline_files;  ///< of earlier runs, to compare with
  double noise = usual_noise;               ///< see compare()
  bool card = false;                        ///< print kernel cards and shares of the GPU's peak rates
  bool progress = false;                    ///< even if stderr is no terminal
  TableFlags table;
  std::optional<int> device;
  std::optional<DeviceList> devices;
};

struct VerifyOptions {
  SceneRequest scene;
  std::vector<int> counts;
  KernelSelection kernels;
  double accuracy = default_accuracy;  ///< of the kernels that `auto` stands for
  std::vector<Axis> axes;
  Commands setup;                        ///< constants of the law
  std::vector<LawId> laws;               ///< never empty
  bool each_value = false;               ///< every value of every tunable, one after the other; no axes
  int sample = ForceSample::usual_size;  ///< bodies whose forces are checked; the largest int stands for all
  bool sample_only = false;              ///< evaluate these bodies alone; kernels that take no targets are skipped
  bool histogram = false;                ///< print distances in units in the last place
  bool digits = false;                   ///< make the source's digit test
  ResultNames files;
  bool progress = false;
  TableFlags table;
  std::optional<int> device;
  std::optional<DeviceList> devices;
};

struct ReportOptions {
  BenchOptions bench;  ///< what is measured; its files are not written
  bool count_given = false;
  std::string file;
  WindowSize picture;
  render::Theme theme = render::Theme::dark;  ///< of the picture
  std::optional<double> budget_s;  ///< measuring ends after this time, in s; none: when everything is measured
  std::vector<std::string> words;  ///< the command line
};

struct RunOptions {
  SceneRequest scene;
  Commands setup;             ///< kernel and physics
  Settings::Values settings;  ///< of the default kernel
  std::string resume;         ///< a checkpoint to continue; what is above is its own then
  RunOrder order;             ///< without what the two below say
  std::optional<std::string> snapshot_format;
  std::optional<double> checkpoint_every_s;
  Existing existing = Existing::keep;
  bool progress = false;
  std::optional<int> device;
  std::optional<DeviceList> devices;
};

/// `orrery replay`.
struct ReplayOptions {
  std::string file;
  bool progress = false;  ///< even if stderr is no terminal
  std::optional<int> device;
};

struct ProfileOptions {
  SceneRequest scene;
  KernelSelection kernels;
  double accuracy = default_accuracy;  ///< of the kernels that `auto` stands for
  std::vector<Axis> axes;
  Commands setup;             ///< the law and its constants
  bool marks_only = false;    ///< marks one evaluation for another profiler, and reads no counters
  std::string baseline_file;  ///< JSON of an earlier profile to compare with; empty: none
  ResultNames files;
  TableFlags table;
  std::optional<int> device;
};

struct CompareOptions {
  SceneRequest scene;
  std::array<std::optional<RunVariant>, 2> variants;  ///< A and B; both are given
  double accuracy = default_accuracy;                 ///< of the kernels that `auto` stands for
  Commands setup;                                     ///< integrator, time step, law and its constants, of both
  std::int64_t steps = 1000;                          ///< of the run with the longer time step
  std::optional<std::int64_t> every;                  ///< of these steps between two samples
  std::optional<bool> energy;                         ///< measure it; none: as PairPlan has it
  ResultNames files;
  bool progress = false;
  TableFlags table;
  std::optional<int> device;
};

struct RaceOptions {
  SceneRequest scene;
  std::optional<double> until;             ///< the time at the end; given
  std::optional<KernelSelection> kernels;  ///< none: this machine's default kernel
  double accuracy = default_accuracy;      ///< of the kernels that `auto` stands for
  std::vector<Axis> axes;
  std::vector<std::string> integrators;  ///< ids
  std::vector<float> time_steps;         ///< empty: see RacePlan
  Commands setup;                        ///< the law and its constants
  ResultNames files;
  bool progress = false;
  TableFlags table;
  std::optional<int> device;
};

struct KernelsOptions {
  bool json = false;
  TableFlags table;
  std::string only;  ///< a kernel's id; empty: all of them
};

struct InfoOptions {
  bool json = false;
  std::optional<int> bodies{};  ///< whether so many fit into memory
  TableFlags table;
};

/// `orrery convert`.
struct ConvertOptions {
  std::string in, out;
  SnapshotHints hints;                     ///< about `in`
  const SnapshotFormat* format = nullptr;  ///< of `out`; never null
  std::optional<ByteOrder> order;          ///< of `out`; empty: its format's usual one
  Existing existing = Existing::keep;
};

/// `orrery inspect`.
struct InspectOptions {
  std::string file;
  SnapshotHints hints;
  std::string picture;  ///< a PNG file; empty: none
  Existing existing = Existing::keep;
  TableFlags table;
};

struct LessonOptions {
  std::optional<int> number;  ///< none: see file
  std::string file;           ///< a lesson's file; empty and no number: lists the lessons
  bool wait = true;           ///< asks for the prediction, if there is a terminal
  bool cpu = false;           ///< measures CPU kernels, even if there is a GPU
  bool progress = false;      ///< even if stderr is no terminal
  TableFlags table;
  std::optional<int> device;
};

/// `orrery new-kernel`.
struct NewKernelOptions {
  std::string id;
  std::string from = "tiled";
};

/// The text that --help and --version print.
struct ShowText {
  std::string text;
  bool unbroken = false;  ///< prints lines as they are, however long
};

/// `orrery help keys`.
struct ShowKeys {
  TableFlags table;
};

using Options = std::variant<ShowText, ShowKeys, ViewOptions, BenchOptions, ReportOptions, VerifyOptions,
                             ProfileOptions, CompareOptions, RaceOptions, RunOptions, ReplayOptions, KernelsOptions,
                             InfoOptions, ConvertOptions, InspectOptions, LessonOptions, NewKernelOptions>;

/// The text of --help, with descriptions broken into lines that fit.
std::string fitted_help(const std::string& text, const TextStyle& style);

/// Reads a command line, given as its words without the program's name, and the script that it names. Adds
/// kernel files to `kernels`. Opens no device: what depends on it comes later. Throws UsageError; std::runtime_error if
/// the script cannot be read. `takes_over`: the words are those of a window that this program goes on for; the files
/// with which that window began may be gone by now, and are not read.
Options parse_options(KernelCatalog& kernels, const std::vector<std::string>& words, bool takes_over = false);

}  // namespace orrery
