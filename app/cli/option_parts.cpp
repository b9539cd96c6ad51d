// Options that several subcommands have in common, and the checks of those that depend on each other.
#include "app/cli/option_parts.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <variant>

#include "app/commands/argument_text.h"
#include "app/lab/tuning/candidates.h"
#include "app/text/input_file.h"
#include "app/workshop/compiler_process.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/stop_signal.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

void add_integrator(CLI::App& app, OptionDraft& draft) {
  add(app, "--integrator", "ID", joined_ids(integrators()), [&](const std::string& text) {
    draft.physics.push_back(SelectIntegrator{find_integrator(text).id});
    draft.procedure_option = "--integrator";
  });
  add(app, "--dt", "T", "time step: " + allowed_text(argument_of<&SetTimeStep::time_step>()) + " (the scene's)",
      [&](const std::string& text) {
        draft.physics.push_back(SetTimeStep{read_option<&SetTimeStep::time_step>("--dt", text)});
      });
  add_eta(app, draft);
  add_digits(app, draft);
}

void add_drag(CLI::App& app, OptionDraft& draft) {
  add(app, "--drag", "D", "D of attract-repel: " + allowed_text(argument_of<&SetDrag::drag>()),
      [&](const std::string& text) {
        draft.physics.push_back(SetDrag{read_option<&SetDrag::drag>("--drag", text)});
        draft.attract_repel_option = "--drag";
      });
}

void add_axis(OptionDraft& draft, std::string_view option, std::string_view text) {
  Axis axis = parse_axis(option, text);
  if (std::ranges::find(draft.axes, axis.tunable, &Axis::tunable) != draft.axes.end()) {
    throw UsageError(fmt::format("the setting {} is given twice", axis.tunable));
  }
  draft.axes.push_back(std::move(axis));
}

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

bool is_physics(const Command& command) {
  return !std::holds_alternative<SetStepsPerFrame>(command);
}

bool has_block_steps(const std::string& integrator) {
  return find_integrator(integrator).block_steps;
}

/// Reads and parses a kernel file. Throws KernelFileError, and std::runtime_error as read_text().
KernelFile read_kernel_file(const std::string& path) {
  return parse_kernel_file(path, read_text(path));
}

}  // namespace

void add(CLI::App& app, const std::string& names, const std::string& value, const std::string& help, const Reader& read,
         bool repeatable) {
  const std::string shown = names.substr(0, names.find(','));
  const auto read_all = [shown, read, repeatable](const std::vector<std::string>& texts) {
    if (texts.size() > 1 && !repeatable) throw UsageError(fmt::format("{} is given {} times", shown, texts.size()));
    for (const std::string& text : texts) read(text);
  };
  const bool positional = names.front() != '-';
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(names, read_all, help);
  option->allow_extra_args(false)->option_text(positional ? " " : value);
}

std::string file_name(const std::string& option, const std::string& text) {
  if (text.empty()) throw UsageError(option + " needs the name of a file");
  return text;
}

void add_file(CLI::App& app, const std::string& name, const std::string& help, std::string& file) {
  add(app, name, "FILE", help, [&file, name](const std::string& text) { file = file_name(name, text); });
}

/// A flag takes no value: without this CLI11 reads --flag=3 as the flag given three times.
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help) {
  app.add_flag(name, value, help)->disable_flag_override();
}

void add_byte_order(CLI::App& app, std::optional<ByteOrder>& order, const std::string& help) {
  add(app, "--byte-order", "ORDER", help, [&order](const std::string& text) {
    constexpr std::array<std::string_view, 2> orders{"big", "little"};
    order = parse_choice("--byte-order", text, orders) == 0 ? ByteOrder::big : ByteOrder::little;
  });
}

void add_hints(CLI::App& app, SnapshotHints& hints, std::string& last) {
  add(app, "--units", "L,M[,V]", "units of the file's lengths, masses and velocities: kpc,1e10Msun,km/s (the file's)",
      [&](const std::string& text) {
        hints.units = parse_units("--units", text);
        last = "--units";
      });
  add(app, "--columns", "NAMES", "columns of a text table, such as x,y,z,vx,vy,vz,m; '-' skips one",
      [&](const std::string& text) {
        hints.columns = parse_columns("--columns", text);
        last = "--columns";
      });
  add(app, "--state", "I", "which state of a trajectory, from 0 (the last)", [&](const std::string& text) {
    hints.state = parse_integer("--state", text, 0, std::numeric_limits<int>::max());
    last = "--state";
  });
  add(app, "--cosmological", "yes|no",
      "whether the file is cosmological: read in proper units at its scale factor (it decides)",
      [&](const std::string& text) {
        constexpr std::array<std::string_view, 2> answers{"no", "yes"};
        hints.cosmological = parse_choice("--cosmological", text, answers) == 1;
        last = "--cosmological";
      });
  add(app, "--hubble", "H", "h, by which the file's lengths and masses are divided, such as 0.7 (the file's)",
      [&](const std::string& text) {
        hints.hubble = read_option<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::hubble>("--hubble", text);
        last = "--hubble";
      });
}

void add_scene(CLI::App& app, OptionDraft& draft, const std::string& counts, const std::string& counts_help) {
  add_file(app, "FILE", "a file of bodies to start from, instead of a generated scene: " + snapshot_titles(),
           draft.scene.file);
  add_hints(app, draft.scene.hints, draft.hint_option);
  add(app, "--scene", "NAME", "generated scene: " + joined_ids(scenes()), [&](const std::string& text) {
    draft.scene.scene = find_scene(text).id;
    draft.scene_named = true;
    draft.generator_option = "--scene";
  });
  add(app, "-n", counts, counts_help, [&, list = counts == "LIST"](const std::string& text) {
    draft.counts = list ? parse_counts("-n", text) : std::vector{parse_count("-n", text, body_counts)};
    draft.generator_option = draft.procedure_option = "-n";
  });
  add(app, "--seed", "S", "seed of the scene (1)", [&](const std::string& text) {
    draft.scene.seed = read_option<&LoadScene::request, &SceneRequest::seed>("--seed", text);
    draft.generator_option = "--seed";
    draft.seeded = true;
  });
}

void add_kernel(CLI::App& app, OptionDraft& draft, const std::string& help) {
  add(app, "--kernel", "ID", help, [&](const std::string& text) {
    draft.kernel = find_kernel_or_auto(draft.catalog, text);
    draft.kernel_named = true;
  });
}

void add_eta(CLI::App& app, OptionDraft& draft) {
  add(app, "--eta", "ETA",
      fmt::format("accuracy of block time steps: {} ({})", allowed_text(argument_of<&SetEta::eta>()),
                  StepCriterion::usual_eta),
      [&](const std::string& text) { draft.physics.push_back(SetEta{read_option<&SetEta::eta>("--eta", text)}); });
}

void add_digits(CLI::App& app, OptionDraft& draft) {
  add(app, "--digits", "float|compensated",
      "positions and velocities: floats, or floats with low words, so that steps lose no digits (float)",
      [&](const std::string& text) {
        draft.physics.push_back(SetDigits{read_option<&SetDigits::digits>("--digits", text)});
      });
}

void add_law(CLI::App& app, OptionDraft& draft, const std::string& help) {
  add(app, "--law", "ID", help, [&](const std::string& text) { draft.law = find_law(text); });
  add(app, "--softening", "E",
      "softening length: " + allowed_text(argument_of<&SetSoftening::softening>()) + " (the scene's)",
      [&](const std::string& text) {
        draft.physics.push_back(SetSoftening{read_option<&SetSoftening::softening>("--softening", text)});
      });
  add(app, "--repulsion", "H", "H of attract-repel: " + allowed_text(argument_of<&SetRepulsion::repulsion>()),
      [&](const std::string& text) {
        draft.physics.push_back(SetRepulsion{read_option<&SetRepulsion::repulsion>("--repulsion", text)});
        draft.attract_repel_option = "--repulsion";
      });
}

void add_settings(CLI::App& app, OptionDraft& draft, const std::string& value, const std::string& help) {
  add(
      app, "--set", "NAME=" + value, help, [&](const std::string& text) { add_axis(draft, "--set", text); }, true);
  add(app, "--block", value, "short for --set block=" + value,
      [&](const std::string& text) { add_axis(draft, "--block", "block=" + text); });
}

void add_accuracy(CLI::App& app, OptionDraft& draft) {
  add(app, "--accuracy", "VALUE",
      fmt::format("force error that auto allows: a median of at most this and a p99 of at most {:g} times this, or "
                  "exact: full fp32 accuracy ({:g})",
                  p99_over_accuracy, default_accuracy),
      [&](const std::string& text) { draft.accuracy = read_option<&SetAccuracy::median_error>("--accuracy", text); });
}

void add_device(CLI::App& app, OptionDraft& draft) {
  add(app, "--device", "I", "CUDA device, from 0", [&](const std::string& text) {
    draft.device = static_cast<int>(parse_integer("--device", text, 0, std::numeric_limits<int>::max()));
  });
}

void add_devices(CLI::App& app, OptionDraft& draft) {
  add(app, "--devices", "all|I,J",
      "several CUDA devices that divide the work; the first has the bodies; of mpirun's ranks, each takes one",
      [&](const std::string& text) { draft.devices = DeviceList::parsed("--devices", text); });
}

void add_force(CLI::App& app, OptionDraft& draft) {
  add_flag(app, "--force", draft.force,
           "overwrites existing files (default: keeps them and adds a number to the new name)");
}

void add_table_flags(CLI::App& app, TableFlags& flags) {
  add_flag(app, "--wide", flags.wide, "prints every column of tables in full width");
  add_flag(app, "--markdown", flags.markdown, "prints tables in Markdown");
}

void add_progress(CLI::App& app, bool& progress) {
  add_flag(app, "--progress", progress, "shows progress even if stderr is not a terminal");
}

void add_setting_lists(CLI::App& app, OptionDraft& draft) {
  add_settings(app, draft, "LIST", "tries each listed value of a setting, or all; repeatable: tries every combination");
}

void add_measurement(CLI::App& app, OptionDraft& draft, TableFlags& table, bool& progress, ResultNames& files) {
  add_table_flags(app, table);
  add_setting_lists(app, draft);
  add_file(app, "--csv", "writes the table as CSV", files.csv);
  add_file(app, "--json", "writes the results as JSON", files.json);
  add_force(app, draft);
  add_progress(app, progress);
  add_device(app, draft);
}

void add_measured_kernels(CLI::App& app, OptionDraft& draft, const std::string& otherwise) {
  add(app, "--kernels", "all|auto|A,B",
      fmt::format("kernels, separated by commas ({}); auto: the fastest that is accurate enough", otherwise),
      [&](const std::string& text) {
        draft.selection = parse_kernels_or_auto(draft.catalog, text);
        draft.kernel_named = true;
      });
  add_accuracy(app, draft);
}

void add_repeats(CLI::App& app, OptionDraft& draft) {
  add(app, "--repeat", "R", "number of samples; each has one step, or as many as last 20 ms (10)",
      [&](const std::string& text) {
        draft.bench.repeats = static_cast<int>(parse_integer("--repeat", text, 1, 1'000'000));
        draft.procedure_option = "--repeat";
      });
}

void add_physics(CLI::App& app, OptionDraft& draft) {
  add_integrator(app, draft);
  add_law(app, draft, joined_ids(laws()));
  add_drag(app, draft);
}

void add_size(CLI::App& app, OptionDraft& draft, const std::string& help) {
  add(app, "--size", "WxH", help, [&](const std::string& text) {
    const auto [width, height] = parse_size("--size", text);
    draft.view.size = {width, height};
  });
}

void add_panel(CLI::App& app, OptionDraft& draft, const std::string& help) {
  add(app, "--panel", "on|off", help, [&](const std::string& text) { draft.panel = parse_switch("--panel", text); });
  add(app, "--legend", "on|off", "shows what colours and lengths mean (on, but off if --panel off is given)",
      [&](const std::string& text) { draft.legend = parse_switch("--legend", text); });
}

void add_theme(CLI::App& app, ViewOptions& view) {
  add(app, "--theme", "THEME", "dark: light on a dark ground (default); light: ink on white, for print",
      [&](const std::string& text) {
        constexpr std::array<std::string_view, 2> themes{"dark", "light"};
        view.theme = parse_choice("--theme", text, themes) == 0 ? render::Theme::dark : render::Theme::light;
      });
}

[[noreturn]] void refuse_settings_of_auto(const OptionDraft& draft, const char* option) {
  throw UsageError(fmt::format("{} cannot be set with {} auto, which chooses settings as well; name a kernel: {}",
                               draft.axes.front().tunable, option, joined_ids(draft.catalog.all())));
}

KernelSelection first_kernel(const OptionDraft& draft) {
  if (draft.kernel) return {.kernels = {draft.kernel}};
  if (draft.axes.empty()) return {.kernels = {}, .automatic = true};
  if (draft.kernel_named) refuse_settings_of_auto(draft, "--kernel");
  return {.kernels = draft.catalog.all(), .all = true};
}

void set_first_kernel(Commands& setup, Settings::Values& settings, const KernelSelection& first,
                      const std::vector<Axis>& axes) {
  const Settings::Values values = values_of(axes);
  if (first.automatic) {
    setup.push_back(SelectKernel{auto_kernel});
  } else if (first.all) {
    check_axes(first, axes);
    settings = values;
  } else {
    const KernelInfo& kernel = *first.kernels.front();
    setup.push_back(SelectKernel{kernel.id, Settings{kernel, values}.values()});
  }
}

void refuse_accuracy_of_a_kernel(const OptionDraft& draft, const char* option) {
  if (!draft.accuracy) return;
  throw UsageError(fmt::format("--accuracy applies only to {} auto: choose auto, or leave out --accuracy", option));
}

double accuracy_of_auto(const OptionDraft& draft) {
  const KernelSelection& selection = draft.selection;
  if (!selection.automatic) refuse_accuracy_of_a_kernel(draft, "--kernels");
  if (selection.automatic && selection.kernels.empty() && !draft.axes.empty()) {
    refuse_settings_of_auto(draft, "--kernels");
  }
  return draft.accuracy.value_or(default_accuracy);
}

void add_law_command(OptionDraft& draft) {
  if (draft.law) draft.physics.push_back(SelectLaw{law_info(*draft.law).id});
}

void refuse_constants_without_their_law(const OptionDraft& draft, bool has_law) {
  if (has_law || draft.attract_repel_option.empty()) return;
  throw UsageError(
      fmt::format("{0} belongs to the law attract-repel, which is not asked for: add --law attract-repel, "
                  "or leave {0} out",
                  draft.attract_repel_option));
}

void refuse_eta_without_block_steps(const OptionDraft& draft, const std::vector<std::string>& others) {
  const auto sets_eta = [](const Command& command) { return std::holds_alternative<SetEta>(command); };
  const auto uses_eta = [](const Command& command) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    return select && has_block_steps(select->id);
  };
  if (std::ranges::none_of(draft.physics, sets_eta) || std::ranges::any_of(draft.physics, uses_eta) ||
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

void refuse_what_a_checkpoint_decides(const OptionDraft& draft) {
  const std::string option =
      !draft.scene.file.empty()         ? "the file '" + draft.scene.file + "'"
      : !draft.generator_option.empty() ? draft.generator_option
      : draft.kernel_named              ? "--kernel"
      : !draft.axes.empty()             ? "--set"
      : draft.accuracy                  ? "--accuracy"
      : draft.law || std::ranges::any_of(draft.physics, is_physics)
          ? "an option of the physics (--law and its constants, --integrator, --dt, --eta, --digits)"
          : "";
  if (option.empty()) return;
  throw UsageError(fmt::format(
      "{} cannot be used with --resume, which continues with what the checkpoint holds: leave it out", option));
}

void refuse_small_size(const std::optional<WindowSize>& size, bool panels) {
  const WindowSize least = panels ? least_window : least_picture;
  if (!size || (size->width >= least.width && size->height >= least.height)) return;
  throw UsageError(fmt::format("--size cannot be {}x{}; with{} the panel it must be at least {}x{}", size->width,
                               size->height, panels ? "" : "out", least.width, least.height));
}

void add_kernel_file(CLI::App& app, OptionDraft& draft, FileKernelUse use, const std::string& help) {
  const auto read = [&draft, use](const std::string& text) {
    const std::string path = file_name("--kernel-file", text);
    const auto file = std::make_shared<const KernelFile>(read_kernel_file(path));
    const auto same_id = [&](const KernelPtr& other) { return other->id == file->id; };
    if (std::ranges::any_of(draft.kernel_files, same_id)) {
      throw KernelFileError{
          path,
          {{file->id_line, true,
            fmt::format("the id '{}' is that of another --kernel-file: give one of them another id", file->id)}}};
    }
    draft.kernel_files.push_back(
        put_file_kernel(draft.catalog, file, 1, use, CompilerProcess{.cancelled = stop_requested}));
    draft.kernel_file = path;
    draft.kernel = draft.kernel_files.front();
    draft.kernel_named = true;
    draft.selection = {.kernels = draft.kernel_files};
  };
  add(app, "--kernel-file", "FILE.cu", help, read, true);
}

void add_watched_kernel_file(CLI::App& app, OptionDraft& draft) {
  add(app, "--kernel-file", "FILE.cu",
      "opens a kernel of your own in the workshop: it runs once it is checked, and again whenever it is saved",
      [&draft](const std::string& text) {
        const std::string path = file_name("--kernel-file", text);
        if (draft.takes_over) return;
        require_free_id(draft.catalog, read_kernel_file(path));
        if (const std::string reason = no_file_kernels(); !reason.empty()) {
          throw UsageError(fmt::format("{}: a kernel file needs CUDA, and {}", path, reason));
        }
        draft.view.kernel_file = path;
      });
}

SceneRequest OptionDraft::scene_of_one_count() const {
  SceneRequest asked = scene;
  if (!counts.empty()) asked.count = counts.front();
  if (asked.file.empty()) (void)allowed_count(find_scene(asked.scene), asked.count);
  return asked;
}

}  // namespace orrery
