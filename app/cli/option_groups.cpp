#include "app/cli/option_groups.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "app/commands/argument_text.h"
#include "app/commands/command_entry.h"
#include "app/lab/tuning/candidates.h"
#include "app/process/kernel_processes.h"
#include "app/recording/recorder.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/process.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

Settings::Values values_of(const std::vector<Axis>& axes) {
  Settings::Values values;
  for (const Axis& axis : axes) {
    if (axis.values.size() != 1) {
      throw UsageError(fmt::format("{} takes one value here; lists are for 'orrery bench'", axis.tunable));
    }
    values[axis.tunable] = axis.values.front();
  }
  return values;
}

bool has_block_steps(const std::string& integrator) {
  return find_integrator(integrator).block_steps;
}

template <class Kind, class Value>
Kind class_of(Value Kind::*);

/// Adds an option that appends a command to `setup`. The command has one argument, a number; its range replaces {} in
/// `help`.
template <auto argument>
void add_command(CommandLine& line, Commands& setup, const char* name, const char* value, const std::string& help) {
  line.add(name, value, fmt::format(fmt::runtime(help), allowed_text(argument_of<argument>())),
           [&setup, name](const std::string& text) {
             setup.push_back(decltype(class_of(argument)){read_option<argument>(name, text)});
           });
}

}  // namespace

void SceneOptions::add_scene(CommandLine& line, const std::string& counts_name, const std::string& counts_help,
                             const CommandLine::Reader& read_counts) {
  line.add_file("FILE", "a file of bodies to start from, instead of a generated scene: " + snapshot_titles(),
                request.file);
  add_hints(line, request.hints);
  line.add("--scene", "NAME", "generated scene: " + joined_ids(scenes()),
           [this](const std::string& text) { request.scene = find_scene(text).id; });
  line.add("-n", counts_name, counts_help, read_counts);
  line.add("--seed", "S", "seed of the scene (1)", [this](const std::string& text) {
    request.seed = read_option<&LoadScene::request, &SceneRequest::seed>("--seed", text);
  });
}

void SceneOptions::declare(CommandLine& line) {
  add_scene(line, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)",
            [this](const std::string& text) { request.count = parse_count("-n", text, body_counts); });
}

void SceneOptions::declare_list(CommandLine& line, const std::string& counts_help) {
  add_scene(line, "LIST", counts_help, [this](const std::string& text) { counts = parse_counts("-n", text); });
}

void SceneOptions::check(const CommandLine& line) const {
  const std::string of_generator = line.last_given({"--scene", "-n", "--seed"});
  if (!request.file.empty() && !of_generator.empty()) {
    throw UsageError(fmt::format("{} cannot be used with the file '{}', because the bodies come from it", of_generator,
                                 request.file));
  }
  const std::string hint = line.last_given({"--units", "--columns", "--state", "--cosmological", "--hubble"});
  if (request.file.empty() && !hint.empty()) {
    throw UsageError(fmt::format("{} is about a file of bodies, and there is none: add a FILE, or leave it out", hint));
  }
  if (line.given("--seed") && !find_scene(request.scene).random) {
    throw UsageError(fmt::format("--seed changes nothing in the scene '{}', which has no random numbers: leave it out",
                                 request.scene));
  }
  line.refuse_word_for_file(request.file);
}

void SceneOptions::check_count(std::int64_t number) const {
  if (request.file.empty()) (void)allowed_count(find_scene(request.scene), number);
}

void SceneOptions::take_counts(const std::vector<int>& otherwise) {
  if (counts.empty()) counts = otherwise;
  for (const int count : counts) check_count(count);
}

void KernelOptions::declare_first(CommandLine& line, const std::string& help) {
  line.add("--kernel", "ID", help, [this, &line](const std::string& text) {
    kernel = find_kernel_or_auto(line.kernels, text);
    named = true;
  });
}

void KernelOptions::declare_list(CommandLine& line, const std::string& otherwise) {
  selection = {.kernels = line.kernels.all(), .all = true};
  line.add("--kernels", "all|auto|A,B",
           fmt::format("kernels, separated by commas ({}); auto: the fastest that is accurate enough", otherwise),
           [this, &line](const std::string& text) {
             selection = parse_kernels_or_auto(line.kernels, text);
             named = true;
           });
  declare_accuracy(line);
}

void KernelOptions::declare_file(CommandLine& line, FileKernelUse use, const std::string& help) {
  const auto read = [this, &line, use](const std::string& text) {
    const std::string path = file_name("--kernel-file", text);
    const auto file = std::make_shared<const KernelFile>(parse_kernel_file(path, read_text(path)));
    const auto same_id = [&](const KernelPtr& other) { return other->id == file->id; };
    if (std::ranges::any_of(files, same_id)) {
      throw KernelFileError{
          path,
          {{file->id_line, true,
            fmt::format("the id '{}' is that of another --kernel-file: give one of them another id", file->id)}}};
    }
    files.push_back(put_file_kernel(line.kernels, file, 1, use, CompilerProcess{.cancelled = stop_requested}));
    kernel = files.front();
    named = true;
    selection = {.kernels = files};
  };
  line.add("--kernel-file", "FILE.cu", help, read, true);
}

void KernelOptions::declare_accuracy(CommandLine& line) {
  line.add("--accuracy", "VALUE",
           fmt::format("force error that auto allows: a median of at most this and a p99 of at most {:g} times this, "
                       "or exact: full fp32 accuracy ({:g})",
                       p99_over_accuracy, default_accuracy),
           [this](const std::string& text) { accuracy = read_option<&SetAccuracy::median_error>("--accuracy", text); });
}

void KernelOptions::add_axis(std::string_view option, std::string_view text) {
  Axis axis = parse_axis(option, text);
  if (std::ranges::find(axes, axis.tunable, &Axis::tunable) != axes.end()) {
    throw UsageError(fmt::format("the setting {} is given twice", axis.tunable));
  }
  axes.push_back(std::move(axis));
}

void KernelOptions::add_settings(CommandLine& line, const std::string& value, const std::string& help) {
  line.add(
      "--set", "NAME=" + value, help, [this](const std::string& text) { add_axis("--set", text); }, true);
  line.add("--block", value, "short for --set block=" + value,
           [this](const std::string& text) { add_axis("--block", "block=" + text); });
}

void KernelOptions::declare_settings(CommandLine& line) {
  add_settings(line, "VALUE", "changes a setting of the kernel; repeatable");
}

void KernelOptions::declare_setting_lists(CommandLine& line) {
  add_settings(line, "LIST", "tries each listed value of a setting, or all; repeatable: tries every combination");
}

void KernelOptions::refuse_settings_of_auto(const KernelCatalog& kernels, const char* option) const {
  throw UsageError(fmt::format("{} cannot be set with {} auto, which chooses settings as well; name a kernel: {}",
                               axes.front().tunable, option, joined_ids(kernels.all())));
}

KernelSelection KernelOptions::first(const KernelCatalog& kernels) const {
  if (kernel) return {.kernels = {kernel}};
  if (axes.empty()) return {.kernels = {}, .automatic = true};
  if (named) refuse_settings_of_auto(kernels, "--kernel");
  return {.kernels = kernels.all(), .all = true};
}

void KernelOptions::select_first(const KernelSelection& first, Commands& setup, Settings::Values& settings) const {
  if (accuracy) setup.push_back(SetAccuracy{*accuracy});
  const Settings::Values values = values_of(axes);
  if (first.automatic) {
    setup.push_back(SelectKernel{auto_kernel});
  } else if (first.all) {
    check_axes(first, axes);
    settings = values;
  } else {
    const KernelInfo& chosen = *first.kernels.front();
    setup.push_back(SelectKernel{chosen.id, Settings{chosen, values}.values()});
  }
}

void KernelOptions::refuse_accuracy(const char* option) const {
  if (!accuracy) return;
  throw UsageError(fmt::format("--accuracy applies only to {} auto: choose auto, or leave out --accuracy", option));
}

void KernelOptions::check_auto(const KernelCatalog& kernels) const {
  if (!selection.automatic) refuse_accuracy("--kernels");
  if (selection.automatic && selection.kernels.empty() && !axes.empty()) refuse_settings_of_auto(kernels, "--kernels");
}

void PhysicsOptions::declare(CommandLine& line) {
  line.add("--integrator", "ID", joined_ids(integrators()),
           [this](const std::string& text) { setup.push_back(SelectIntegrator{find_integrator(text).id}); });
  add_command<&SetTimeStep::time_step>(line, setup, "--dt", "T", "time step: {} (the scene's)");
  declare_eta_and_digits(line);
  declare_law(line);
  add_command<&SetDrag::drag>(line, setup, "--drag", "D", "D of attract-repel: {}");
}

void PhysicsOptions::declare_eta_and_digits(CommandLine& line) {
  add_command<&SetEta::eta>(line, setup, "--eta", "ETA",
                            fmt::format("accuracy of block time steps: {{}} ({})", StepCriterion::usual_eta));
  add_command<&SetDigits::digits>(
      line, setup, "--digits", "float|compensated",
      "positions and velocities: floats, or floats with low words, so that steps lose no digits (float)");
}

void PhysicsOptions::declare_law(CommandLine& line, const std::string& more_help) {
  line.add("--law", "ID", joined_ids(laws()) + more_help, [this](const std::string& text) { law = find_law(text); });
  add_command<&SetSoftening::softening>(line, setup, "--softening", "E", "softening length: {} (the scene's)");
  add_command<&SetRepulsion::repulsion>(line, setup, "--repulsion", "H", "H of attract-repel: {}");
}

void PhysicsOptions::append_law() {
  if (law) setup.push_back(SelectLaw{law_info(*law).id});
}

void PhysicsOptions::check_constants(const CommandLine& line, bool has_law) const {
  const std::string constant = line.last_given({"--repulsion", "--drag"});
  if (has_law || constant.empty()) return;
  throw UsageError(
      fmt::format("{0} belongs to the law attract-repel, which is not asked for: add --law attract-repel, "
                  "or leave {0} out",
                  constant));
}

void PhysicsOptions::take_law(const CommandLine& line) {
  append_law();
  check_constants(line, law == LawId::attract_repel);
}

void PhysicsOptions::check_eta(const std::vector<std::string>& others) const {
  const auto sets_eta = [](const Command& command) { return std::holds_alternative<SetEta>(command); };
  const auto uses_eta = [](const Command& command) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    return select && has_block_steps(select->id);
  };
  if (std::ranges::none_of(setup, sets_eta) || std::ranges::any_of(setup, uses_eta) ||
      std::ranges::any_of(others, has_block_steps)) {
    return;
  }
  std::vector<const IntegratorInfo*> users;
  std::ranges::copy_if(integrators(), std::back_inserter(users), &IntegratorInfo::block_steps);
  throw UsageError(
      fmt::format("--eta is the accuracy of block time steps, which no chosen integrator has: choose {}, "
                  "or leave --eta out",
                  joined_ids(users)));
}

void DeviceOptions::declare(CommandLine& line) {
  line.add("--device", "I", "CUDA device, from 0", [this](const std::string& text) {
    device = static_cast<int>(parse_integer("--device", text, 0, std::numeric_limits<int>::max()));
  });
}

void DeviceOptions::declare_several(CommandLine& line) {
  declare(line);
  line.add("--devices", "all|I,J",
           "several CUDA devices that divide the work; the first has the bodies; of mpirun's ranks, each takes one",
           [this](const std::string& text) { devices = DeviceList::parsed("--devices", text); });
}

void DeviceOptions::check() const {
  if (device && devices) throw UsageError("--device and --devices are both given: leave one out");
}

void ResultOptions::declare(CommandLine& line, KernelOptions& kernels, DeviceOptions& device, bool several_devices) {
  add_table_flags(line, table);
  kernels.declare_setting_lists(line);
  line.add_file("--csv", "writes the table as CSV", names.csv);
  line.add_file("--json", "writes the results as JSON", names.json);
  add_force(line, names.existing);
  add_progress(line, progress);
  several_devices ? device.declare_several(line) : device.declare(line);
}

RunFiles ResultOptions::files(const SceneRequest& scene) const {
  RunFiles files{.inputs = {}, .outputs = {}, .existing = names.existing};
  add_named(files.inputs, "FILE", scene.file);
  add_named(files.outputs, "--csv", names.csv);
  add_named(files.outputs, "--json", names.json);
  return files;
}

void add_byte_order(CommandLine& line, std::optional<ByteOrder>& order, const std::string& help) {
  line.add("--byte-order", "ORDER", help, [&order](const std::string& text) {
    constexpr std::array<std::string_view, 2> orders{"big", "little"};
    order = parse_choice("--byte-order", text, orders) == 0 ? ByteOrder::big : ByteOrder::little;
  });
}

void add_hints(CommandLine& line, SnapshotHints& hints) {
  line.add("--units", "L,M[,V]", "units of the file's lengths, masses and velocities: kpc,1e10Msun,km/s (the file's)",
           [&](const std::string& text) { hints.units = parse_units("--units", text); });
  line.add("--columns", "NAMES", "columns of a text table, such as x,y,z,vx,vy,vz,m; '-' skips one",
           [&](const std::string& text) { hints.columns = parse_columns("--columns", text); });
  line.add("--state", "I", "which state of a trajectory, from 0 (the last)", [&](const std::string& text) {
    hints.state = parse_integer("--state", text, 0, std::numeric_limits<int>::max());
  });
  line.add("--cosmological", "yes|no",
           "whether the file is cosmological: read in proper units at its scale factor (it decides)",
           [&](const std::string& text) {
             constexpr std::array<std::string_view, 2> answers{"no", "yes"};
             hints.cosmological = parse_choice("--cosmological", text, answers) == 1;
           });
  line.add("--hubble", "H", "h, by which the file's lengths and masses are divided, such as 0.7 (the file's)",
           [&](const std::string& text) {
             hints.hubble =
                 read_option<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::hubble>("--hubble", text);
           });
}

void refuse_small_size(const std::optional<WindowSize>& size, bool panels) {
  const WindowSize least = panels ? least_window : least_picture;
  if (!size || (size->width >= least.width && size->height >= least.height)) return;
  throw UsageError(fmt::format("--size cannot be {}x{}; with{} the panel it must be at least {}x{}", size->width,
                               size->height, panels ? "" : "out", least.width, least.height));
}

void add_force(CommandLine& line, Existing& existing) {
  line.add_flag(
      "--force", [&existing] { existing = Existing::replace; },
      "overwrites existing files (default: keeps them and adds a number to the new name)");
}

void add_table_flags(CommandLine& line, TableFlags& flags) {
  line.add_flag("--wide", flags.wide, "prints every column of tables in full width");
  line.add_flag("--markdown", flags.markdown, "prints tables in Markdown");
}

void refuse_table_flags_of_json(bool json, const TableFlags& table) {
  if (json && (table.wide || table.markdown)) {
    throw UsageError("--json has no tables: leave out --wide and --markdown");
  }
}

void add_progress(CommandLine& line, bool& progress) {
  line.add_flag("--progress", progress, "shows progress even if stderr is not a terminal");
}

void add_size(CommandLine& line, std::optional<WindowSize>& size, const std::string& help) {
  line.add("--size", "WxH", help, [&size](const std::string& text) {
    const auto [width, height] = parse_size("--size", text);
    size = {width, height};
  });
}

void add_theme(CommandLine& line, std::optional<render::Theme>& theme) {
  line.add("--theme", "THEME", "dark: light on a dark ground (default); light: ink on white, for print",
           [&theme](const std::string& text) {
             constexpr std::array<std::string_view, 2> themes{"dark", "light"};
             theme = parse_choice("--theme", text, themes) == 0 ? render::Theme::dark : render::Theme::light;
           });
}

void refuse_what_a_checkpoint_decides(const CommandLine& line, const KernelOptions& kernels,
                                      const PhysicsOptions& physics, const std::string& file) {
  const std::string of_generator = line.last_given({"--scene", "-n", "--seed"});
  const std::string option =
      !file.empty()           ? "the file '" + file + "'"
      : !of_generator.empty() ? of_generator
      : kernels.named         ? "--kernel"
      : !kernels.axes.empty() ? "--set"
      : kernels.accuracy      ? "--accuracy"
      : physics.law || !physics.setup.empty()
          ? "an option of the physics (--law and its constants, --integrator, --dt, --eta, --digits)"
          : "";
  if (option.empty()) return;
  throw UsageError(fmt::format(
      "{} cannot be used with --resume, which continues with what the checkpoint holds: leave it out", option));
}

void add_named(std::vector<NamedFile>& files, const std::string& where, const std::string& path) {
  if (!path.empty()) files.push_back({where, path});
}

namespace {

namespace fs = std::filesystem;

void add_recording(std::vector<NamedFile>& files, const std::string& where, const std::string& path) {
  add_named(files, where, path);
  if (!path.empty() && !is_stream(path)) add_named(files, where + "'s conserved sums", conserved_name(path));
}

void add_script_line(std::vector<NamedFile>& files, const std::string& where, const Request& request) {
  const bool records = command_if<StartRecording>(request) != nullptr;
  for (const auto& argument : entry_of(request).arguments) {
    if (argument->traits().form != Form::written_file) continue;
    records ? add_recording(files, where, argument->text(request)) : add_named(files, where, argument->text(request));
  }
}

/// Identity of a file, independent of its name.
struct Identity {
  explicit Identity(const std::string& path) : exists{stat(path.c_str(), &status) == 0} {
    std::error_code error;
    name = fs::weakly_canonical(fs::absolute(followed(path)), error);
    if (error) name = fs::absolute(path).lexically_normal();
  }
  /// Returns whether this is a device such as /dev/null, which several outputs may share.
  bool keeps_nothing() const { return exists && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1; }
  bool same_as(const Identity& other) const {
    if (keeps_nothing()) return false;
    const bool one_file = exists && other.exists && status.st_dev == other.status.st_dev &&  //
                          status.st_ino == other.status.st_ino;
    return one_file || name == other.name;
  }

  struct stat status {};
  bool exists;
  fs::path name;
};

struct Known {
  NamedFile file;
  Identity identity;
  bool input;
};

void refuse_if_known(const NamedFile& file, const Identity& identity, const std::vector<Known>& known) {
  const auto same = std::ranges::find_if(known, [&](const Known& other) { return identity.same_as(other.identity); });
  if (same == known.end()) return;
  throw UsageError(fmt::format("{} names '{}', which {} {}: name another file", file.where, file.path, same->file.where,
                               same->input ? "reads" : "names as well"));
}

}  // namespace

RunFiles files_of(const ViewOptions& options) {
  RunFiles files{.inputs = {}, .outputs = {}, .existing = options.existing};
  add_named(files.inputs, "FILE", options.scene.file);
  add_named(files.inputs, "--resume", options.resume_file);
  add_named(files.inputs, "--script", options.script_file);
  add_named(files.inputs, "--path", options.path_file);
  add_named(files.inputs, "--kernel-file", options.kernel_file);
  add_recording(files.outputs, "--record", options.record_file);
  add_named(files.outputs, "--screenshot", options.screenshot_file);
  add_named(files.outputs, "--save", options.save_file);
  if (options.film && !options.film->folder) add_named(files.outputs, "--out", options.film->out);
  for (const ScriptLine& line : options.script) {
    const std::string where = fmt::format("{}:{}", options.script_file, line.line);
    add_script_line(files.outputs, where, line.request);
  }
  return files;
}

void refuse_files_that_meet(const RunFiles& files) {
  std::vector<Known> known;
  for (const NamedFile& input : files.inputs) known.push_back({input, Identity{input.path}, true});
  for (const NamedFile& output : files.outputs) {
    const Identity identity{own_descriptor(output.path) == STDOUT_FILENO ? "/dev/stdout" : output.path};
    refuse_if_known(output, identity, known);
    known.push_back({output, identity, false});
  }
}

void prepare_files(const RunFiles& files) {
  for (const NamedFile& input : files.inputs) {
    std::error_code unknown;  // ignored: the function that reads the file reports it
    if (fs::status(input.path, unknown).type() == fs::file_type::not_found) {
      throw std::runtime_error(fmt::format("'{}': no such file", input.path));
    }
  }
  refuse_files_that_meet(files);
  for (const NamedFile& output : files.outputs) {
    try {
      check_output(output.path, files.existing);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", output.where, failure_text(error)));
    }
  }
  const auto is_stdout = [](const NamedFile& output) { return own_descriptor(output.path) == STDOUT_FILENO; };
  if (std::ranges::any_of(files.outputs, is_stdout)) console::yield_stdout();
}

namespace {

/// Returns the error with the settings added to each of its messages.
KernelFileError with_settings(const KernelFileError& error, const Settings& settings) {
  std::vector<FileMessage> messages = error.messages();
  for (FileMessage& message : messages) message.text = fmt::format("with {}: {}", settings.to_string(), message.text);
  return {error.file(), std::move(messages)};
}

}  // namespace

void compile_kernel_files(const Backends& backends) {
  if (backends.device()) return;
  for (const KernelPtr& kernel : backends.kernels().all()) {
    if (!kernel->file_text) continue;
    try {
      kernel->create(Settings{*kernel}, nullptr);
    } catch (const KernelFileError&) {
      throw;
    } catch (const std::runtime_error&) {
      // There is no compiler, either. The caller reports the missing GPU, which must be fixed first.
    }
  }
}

void compile_settings(const Backends& backends, const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    try {
      (void)variant.kernel->create(variant.settings, backends.device());
    } catch (const KernelFitError&) {
      // reported later, by the check of this kernel
    } catch (const KernelFileError& error) {
      if (variant.settings == Settings{*variant.kernel}) throw;
      throw with_settings(error, variant.settings);
    } catch (const std::runtime_error&) {
      return;  // no compiler, or no GPU memory: the caller encounters it again
    }
  }
  if (variants.empty()) return;
  console::print_error("note: {}\n", compiled_note(variants.front().kernel->id, variants.size()));
}

}  // namespace orrery
