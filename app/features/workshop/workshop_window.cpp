// The kernel file in the window: its versions, and the bodies with which they are checked.
#include "app/features/workshop/workshop_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "app/features/workshop/workshop.h"
#include "app/ui_state/hint_words.h"
#include "app/ui_state/window_commands.h"
#include "app/window/handover.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/integrators/update.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/kernels/runtime/kernel_sources.h"
#include "compute/snapshots/snapshot_format.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

/// Keeps every second or third body, and so on, so that at most `most` remain.
void thin_out(Bodies& bodies, int most) {
  const int all = bodies.count();
  const int distance = (all + most - 1) / most;
  Bodies some;
  for (int i = 0; i < all; i += distance) {
    some.positions.push_back(bodies.positions[static_cast<std::size_t>(i)]);
    some.velocities.push_back(bodies.velocities[static_cast<std::size_t>(i)]);
  }
  bodies = std::move(some);
}

/// Removes bodies that a check cannot use, and says so in Copy::remark.
void prepare_for_check(ShownBodies::Copy& copy, int most) {
  Bodies& bodies = copy.snapshot->bodies;
  const int all = bodies.count();
  if (const int body = first_not_finite(bodies.positions, bodies.velocities); body >= 0) {
    copy.remark = fmt::format("without the bodies that are shown: body {} is not finite", body);
    copy.snapshot.reset();
  } else if (all > most) {
    thin_out(bodies, most);
    copy.snapshot->properties = {};
    copy.remark = fmt::format("with {} of the {} that are shown", format_count(bodies.count()), counted_bodies(all));
  }
}

}  // namespace

std::optional<ShownBodies::Copy> ShownBodies::ask(const std::function<bool()>& cancelled) {
  std::optional<Copy> copy = wait_for_copy(cancelled);
  if (copy) prepare_for_check(*copy, most);
  return copy;
}

std::optional<ShownBodies::Copy> ShownBodies::wait_for_copy(const std::function<bool()>& cancelled) {
  constexpr std::chrono::milliseconds look{5};
  std::unique_lock lock{mutex_};
  copy_.reset();
  error_.clear();
  asked_ = std::chrono::steady_clock::now();
  while (!answered_.wait_for(lock, look, [this] { return !asked_; })) {
    if (!cancelled()) continue;
    asked_.reset();
    return std::nullopt;
  }
  if (!error_.empty()) throw std::runtime_error(error_);
  return std::exchange(copy_, std::nullopt);
}

void ShownBodies::answer(Simulation& simulation) {
  constexpr std::chrono::seconds patience{1};
  const std::lock_guard lock{mutex_};
  if (!asked_ || simulation.measuring()) return;
  const Status& status = simulation.status();
  const bool cancels = status.backend == Backend::cpu && std::chrono::steady_clock::now() - *asked_ >= patience;
  if (!simulation.idle() && !cancels) return;
  asked_.reset();
  try {
    copy_ = Copy{simulation.snapshot(), status.law, {}};
  } catch (const std::exception& error) {  // no bodies: the run's GPU context is lost
    error_ = failure_text(error);
  }
  answered_.notify_one();
}

namespace {

int architecture_of([[maybe_unused]] const Backends& backends) {
#if ORRERY_HAVE_CUDA
  if (const cuda::Device* device = backends.device()) return device->info().architecture();
#endif
  return usual_architecture;
}

/// Returns a value for each setting of the file: the one in `values` if the file allows it, else the initial one.
Settings::Values allowed_values(const KernelFile& file, const Settings::Values& values) {
  Settings::Values allowed;
  for (const FileTunable& tunable : file.tunables) {
    const auto value = values.find(tunable.name);
    const bool known =
        value != values.end() && std::ranges::find(tunable.values, value->second) != tunable.values.end();
    allowed[tunable.name] = known ? value->second : tunable.initial;
  }
  return allowed;
}

/// Returns the messages of the errors, each with the settings at which it occurred.
std::vector<WorkshopMessage> messages_of(const KernelFileError& error, const Settings& settings) {
  std::vector<WorkshopMessage> shown;
  for (const FileMessage& message : error.messages()) {
    if (!message.is_error) continue;
    shown.push_back({message.line, true, fmt::format("with {}: {}", settings.to_string(), message.text)});
  }
  return shown;
}

/// Returns arguments of `orrery verify` for a check of all bodies, under the shown law.
std::vector<std::string> whole_check(const std::string& bodies, const Law& law, const Settings::Values& values) {
  std::vector<std::string> words{bodies};
  std::ranges::move(law_arguments(law), std::back_inserter(words));
  for (const auto& [name, value] : values) words.insert(words.end(), {"--set", fmt::format("{}={}", name, value)});
  return words;
}

/// Returns arguments of `orrery verify` for a check of the forces of all on 256 bodies. It covers both laws and every
/// value of every setting.
std::vector<std::string> sampled_check(const std::string& bodies, const Law& law) {
  std::vector<std::string> words{bodies, "--sample", "256", "--sample-only"};
  std::ranges::move(law_constants(law), std::back_inserter(words));
  return words;
}

/// Returns the system of a trial, without kernel and settings.
Trial system_of(Trial trial) {
  trial.kernel_id.clear();
  trial.settings.clear();
  trial.kernel_revision = trial.kernel_version = 0;
  return trial;
}

}  // namespace

WorkshopControl::WorkshopControl(KernelCatalog& kernels, const Backends& backends)
    : kernels_{kernels},
      backends_{backends},
      placed_{kernels, [this](KernelCatalog& catalog, const AcceptedKernel& kernel) {
                return put_file_kernel(
                    catalog, kernel.file, kernel.version, FileKernelUse::plain,
                    CompilerProcess{.cancelled = [ended = ended_] { return stop_requested() || *ended; },
                                    .spares = compilers_});
              }} {}

WorkshopControl::~WorkshopControl() {
  *ended_ = true;
}

KernelWorkshop& WorkshopControl::opened() {
  if (!workshop_) throw UsageError("no kernel file is open: workshop-open FILE opens one");
  return *workshop_;
}

KernelWorkshop& WorkshopControl::made() {
  if (!workshop_) {
    workshop_ = std::make_unique<KernelWorkshop>(KernelWorkshop::Tools{
        .compile = [this](const KernelFile& kernel, const Settings::Values& values,
                          const std::function<bool()>& cancelled) { return compile(kernel, values, cancelled); },
        .check = [this](const KernelFile& kernel, const Settings::Values& values,
                        const std::function<bool()>& cancelled) { return check(kernel, values, cancelled); }});
  }
  return *workshop_;
}

void WorkshopControl::open(const std::string& file) {
  made().open(file);
  placed_.forget_numbers();
  first_ = true;
}

std::string WorkshopControl::name_of(const KernelInfo& kernel) const {
  const int version = placed_.version_of(kernel.id, kernel.revision);
  return version > 0 ? fmt::format("version {} of {}", version, file_of(kernel)) : "";
}

std::string WorkshopControl::file_of(const KernelInfo& kernel) const {
  const bool of_file = workshop_ && placed_.version_of(kernel.id, kernel.revision) > 0;
  const std::optional<KernelHistory> history = of_file ? workshop_->history() : std::nullopt;
  return history ? history->file : fmt::format("{}.cu", kernel.id);
}

std::optional<KernelHistory> WorkshopControl::history_without(const KernelInfo& failed, const std::string& why) const {
  std::optional<KernelHistory> history = workshop_ ? workshop_->history() : std::nullopt;
  const int version = placed_.version_of(failed.id, failed.revision);
  if (!history || version < 1 || version > static_cast<int>(history->versions.size())) return history;
  WorkshopVersion& facts = history->versions[static_cast<std::size_t>(version) - 1].facts;
  facts.accepted = false;
  facts.error = why;
  return history;
}

/// Restores the workshop. The next version of the file is selected, whichever kernel is shown.
void WorkshopControl::restore(const Handover& handover) {
  if (handover.workshop) made().restore(*handover.workshop);
  first_ = handover.workshop.has_value();
  if (const auto& kernel = handover.kernel) {
    placed_.put({kernel->version, std::make_shared<const KernelFile>(parse_kernel_file(kernel->file, kernel->text))});
    if (!handover.workshop || handover.workshop->file != kernel->file) placed_.forget_numbers();
  }
}

void WorkshopControl::open_new(const NewKernelFile& asked) {
  const std::string from = asked.from.empty() ? starting_points().front() : asked.from;
  const KernelFile kernel = new_kernel_file(kernels_, asked.id, from);
  const std::string& file = kernel.name;
  std::error_code unknown;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, unknown))) {
    throw UsageError(fmt::format("'{}' exists already: choose another name, or open it", file));
  }
  open(write_file(file, kernel.text, Existing::keep));
}

void WorkshopControl::close() {
  opened().close();
}

void WorkshopControl::compile_again() {
  opened().compile_again();
}

void WorkshopControl::save(const std::string& text) {
  opened().save(text);
}

void WorkshopControl::bring_back(int version) {
  opened().bring_back(version);
}

/// Compiles a file, on the workshop's thread. Uses the initial values, which the check needs, and the current ones,
/// which the window needs.
std::vector<FileMessage> WorkshopControl::compile(const KernelFile& file, const Settings::Values& values,
                                                  const std::function<bool()>& cancelled) const {
  require_free_id(kernels_, file);
  const int architecture = architecture_of(backends_);
  const CompiledLaws compiled = compile_for_all_laws(file, allowed_values(file, values), architecture,
                                                     CompilerProcess{.cancelled = cancelled, .spares = compilers_});
  return compiled.gravity->warnings;
}

/// Checks a file, on the workshop's thread.
KernelCheck WorkshopControl::check(const KernelFile& file, const Settings::Values& values,
                                   const std::function<bool()>& cancelled) {
  if (!backends_.status(Backend::cuda).available) return {.not_here = true};
  const auto write_shown = [&](const TemporaryFolder& folder) -> KernelChecker::Shown {
    const std::optional<ShownBodies::Copy> shown = shown_bodies_.ask(cancelled);
    if (!shown) return {};
    if (!shown->snapshot) return {.remark = shown->remark};
    const std::string bodies = write_snapshot(folder / "bodies.tipsy", *shown->snapshot).file().string();
    return {.runs = {whole_check(bodies, shown->law, allowed_values(file, values)), sampled_check(bodies, shown->law)},
            .remark = shown->remark};
  };
  return KernelChecker{.device = backends_.device_ordinal()}.check(file, cancelled, write_shown);
}

std::optional<SelectKernel> WorkshopControl::tick(const Status& shown, WorkshopStatus& status) {
  if (!workshop_) return std::nullopt;
  compilers_->fill();
  std::optional<SelectKernel> select;
  const bool is_shown = placed_.is(shown.kernel_id);
  if (is_shown) {
    first_ = false;
    workshop_->set_values(shown.settings.values());
  }
  if (const std::optional<AcceptedKernel> accepted = workshop_->take_accepted()) {
    try {
      placed_.put(*accepted);
      if (first_ || is_shown) {
        awaited_ = placed_.revision();
        select = SelectKernel{accepted->file->id,
                              is_shown ? allowed_values(*accepted->file, shown.settings.values()) : Settings::Values{}};
      }
    } catch (const std::exception& error) {
      workshop_->reject(accepted->version, failure_text(error));
    }
  }
  const int text = status.text_number;
  workshop_->describe(status);
  if (status.text_number != text || select) of_settings_.clear();
  describe_running(shown, status);
  status.messages.insert(status.messages.begin(), of_settings_.begin(), of_settings_.end());
  return select;
}

void WorkshopControl::describe_running(const Status& shown, WorkshopStatus& status) const {
  for (WorkshopVersion& version : status.versions) {
    const KernelPtr kernel = version.accepted ? placed_.kernel_of(version.number) : nullptr;
    version.kernel = kernel ? versioned_id(*kernel) : "";
  }
  status.running = placed_.version_of(shown.kernel_id, trial_of(shown).kernel_revision);
}

int WorkshopControl::took(const PreparedKernel& prepared) {
  of_settings_.clear();
  const int version = placed_.version_of(prepared.kernel->id, prepared.kernel->revision);
  if (version == 0) return 0;
  const bool is_new = std::exchange(awaited_, 0) == prepared.kernel->revision;
  if (!prepared.failure) return is_new ? version : 0;
  try {
    std::rethrow_exception(prepared.failure);
  } catch (const KernelFileError& error) {
    if (is_new) refused(error.what());
    if (!is_new) of_settings_ = messages_of(error, prepared.settings);
  } catch (const std::exception& error) {
    if (is_new) refused(failure_text(error));
  }
  return 0;
}

void WorkshopControl::add_step_times(const Status& shown, std::span<const Result> results,
                                     WorkshopStatus& status) const {
  const Trial system = system_of(trial_of(shown));
  for (const Result& row : results) {
    const int version = placed_.version_of(row.kernel_id, row.kernel_revision);
    if (version < 1 || !(row.step_ms.median > 0) || system_of(row) != system) continue;
    std::optional<double>& best = status.versions[static_cast<std::size_t>(version) - 1].step_ms;
    best = std::min(best.value_or(row.step_ms.median), row.step_ms.median);
  }
}

void WorkshopControl::refused(const std::string& why) {
  awaited_ = 0;
  workshop_->reject(placed_.version(), why);
  placed_.take_back();
}

std::string WorkshopControl::take_rejection(const WorkshopStatus& status) {
  if (status.problem.empty()) return {};
  std::pair latest{status.text_number, status.problem};
  return std::exchange(told_, latest) == latest ? std::string{} : status.problem;
}

void WorkshopControl::describe_sources(const Backends& backends, WorkshopStatus& status) {
  const BackendStatus& cuda = backends.status(Backend::cuda);
  status.unavailable = cuda.available ? "" : cuda.reason;
  for (const KernelSource& kernel : kernel_sources()) {
    WorkshopSource source{.kernel_id = kernel.id, .files = {}, .why_no_start = why_no_start(kernel.id)};
    for (const SourceFile* file : kernel.files) {
      source.files.push_back({std::string{file->name}, std::string{file->bytes}});
    }
    status.sources.push_back(std::move(source));
  }
}
namespace {

/// Returns one line that says why the file's latest text does not run in the window.
std::string why_not_shown(const WorkshopStatus& workshop) {
  if (workshop.state != WorkshopState::unchecked) return workshop.problem;
  return fmt::format("{}: it compiles, but cannot run here: {}", workshop.file, workshop.unavailable);
}

/// The workshop as a part of the window: carries out its commands, and selects new versions.
class WorkshopWindow final : public WindowFeature {
 public:
  explicit WorkshopWindow(Session& session) : session_{session}, control_{session.kernels, session.backends} {
    WorkshopControl::describe_sources(session.backends, status());
  }

  void add_to(Handlers& handlers) override { handlers.add(*this, workshop_commands); }

  void carry_out(const OpenKernelFile& c) {
    control_.open(c.file);
    wait();
  }

  void carry_out(const CloseKernelFile&) { control_.close(); }

  void carry_out(const CompileKernelFile&) {
    control_.compile_again();
    wait();
  }

  void carry_out(const SaveKernelFile& c) {
    control_.save(c.text);
    wait();
  }

  void carry_out(const NewKernelFile& c) {
    control_.open_new(c);
    wait();
  }

  void carry_out(const BringKernelBack& c) {
    control_.bring_back(c.version);
    wait();
  }

  /// Opens the file of --kernel-file. Throws if a film cannot be made with this kernel.
  void begin() override;

  /// Copies the bodies for a check. In deterministic runs, wait() does that.
  void before_steps() override {
    if (!session_.lockstep) control_.answer(session_.lane.simulation());
  }

  /// Returns whether a check waits for the bodies. If steps ran, copying would block this frame.
  bool forbids_steps() const override { return !session_.lockstep && control_.asks_for_bodies(); }

  void follow() override {
    take_up_version();
    if (session_.view.measuring()) return;
    if (const std::string why = control_.take_rejection(status()); !why.empty()) session_.complain(why);
  }

  void add_losses(std::vector<std::string>& lines) const override {
    for (const std::string& file : unsaved_files()) {
      lines.push_back(fmt::format("The edits of {} are not saved (Ctrl+S saves them).", file));
    }
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    for (const std::string& file : unsaved_files()) {
      things.push_back(fmt::format("the edits of {} that were not saved", file));
    }
  }

  void hand_over(Handover& next, const DeviceLoss& loss, const KernelInfo& kernel) const override {
    next.workshop = control_.history_without(
        *loss.kernel, (loss.hangs ? "it hangs in the shown run: " : "the device failed with it: ") + loss.cause);
    if (kernel.file_text) next.kernel = {control_.file_of(kernel), kernel.file_text, kernel.file_version};
  }

  void take_over(const Handover& before) override { control_.restore(before); }

  std::string name_of(const KernelInfo& kernel) const override { return control_.name_of(kernel); }

  /// Returns 0, or in a deterministic run with --kernel-file: 2 if the kernel does not compile or cannot run here; 1 if
  /// it was not shown for another reason.
  int exit_status() const override;

 private:
  WorkshopStatus& status() const { return session_.view.features.of<WorkshopStatus>(); }

  std::vector<std::string> unsaved_files() const {
    std::vector<std::string> files;
    for (const auto& [file, draft] : session_.panels.lab.drafts.of<WorkshopDraft>().sources) {
      if (unsaved(draft)) files.push_back(file);
    }
    return files;
  }

  void wait();
  void take_up_version();
  void report_version(int number);

  Session& session_;
  WorkshopControl control_;
  bool given_shown_ = false;  // the kernel of --kernel-file has been shown
};

void WorkshopWindow::begin() {
  if (session_.options.kernel_file.empty()) return;
  if (!session_.options.film) session_.carry_out(ShowLab{"workshop"});
  control_.open(session_.options.kernel_file);
  wait();
  if (stop_requested()) return;
  if (!session_.options.film) {
    follow();
    if (session_.lockstep && status().state == WorkshopState::unchecked) session_.complain(why_not_shown(status()));
  } else if (const int given = exit_status(); given == 2) {
    throw UsageError(why_not_shown(status()));
  } else if (given == 1) {
    throw std::runtime_error(why_not_shown(status()));
  }
}

int WorkshopWindow::exit_status() const {
  if (!session_.lockstep || session_.options.kernel_file.empty() || given_shown_) return 0;
  const std::vector<WorkshopVersion>& versions = status().versions;
  const bool failed = !versions.empty() && versions.back().compiles && !versions.back().unchecked;
  return failed ? 1 : 2;
}

/// Selects a new version. In a deterministic run, first blocks until it is checked.
void WorkshopWindow::wait() {
  constexpr std::chrono::milliseconds nap{2};
  while (session_.lockstep && control_.busy() && !stop_requested()) {
    control_.answer(session_.lane.simulation());
    std::this_thread::sleep_for(nap);
  }
  take_up_version();
}

/// Selects a new version, but not during a sweep or a lesson. The outcome of a kernel that was prepared before is taken
/// even then, because the next outcome would overwrite it.
void WorkshopWindow::take_up_version() {
  if (const std::optional<PreparedKernel> prepared = session_.lane.simulation().take_prepared()) {
    if (const int version = control_.took(*prepared); version > 0) report_version(version);
  }
  if (session_.view.measuring()) return;
  control_.answer(session_.lane.simulation());
  if (const std::optional<SelectKernel> select = control_.tick(session_.lane.status(), status())) {
    try {
      session_.carry_out(Command{*select});
      if (!session_.lane.status().preparing) report_version(control_.took());
      control_.describe_running(session_.lane.status(), status());
    } catch (const std::exception& error) {
      control_.refused(failure_text(error));
      (void)control_.tick(session_.lane.status(), status());
    }
  }
  given_shown_ |= status().running > 0 && status().file == session_.options.kernel_file;
  control_.add_step_times(session_.lane.status(), session_.view.results, status());
}

void WorkshopWindow::report_version(int number) {
  const WorkshopVersion& runs = status().versions[static_cast<std::size_t>(number) - 1];
  session_.say(fmt::format("version {} of {} runs: compiled in {:.0f} ms, checked in {:.1f} s{}{}", runs.number,
                           status().file, runs.compile_ms, runs.check_s, runs.remark.empty() ? "" : ", ", runs.remark));
}

}  // namespace

std::unique_ptr<WindowFeature> make_workshop(Session& session) {
  return std::make_unique<WorkshopWindow>(session);
}

}  // namespace orrery
