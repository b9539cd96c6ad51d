// Profiles of the shown kernel, taken in separate processes.
#include "app/features/profile/profile_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/process/child_process.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/ui_state/hint_words.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

/// Reads the profile from the file that the process has written. Standard output may contain a kernel's own prints.
KernelProfile profile_in(const std::string& file) {
  std::vector<KernelProfile> profiles = profiles_of(read_json(file));
  if (profiles.empty()) throw std::runtime_error("the process that profiles returned no profile");
  return std::move(profiles.front());
}

/// Reads the profile if its file already exists and is complete; otherwise returns none.
std::optional<KernelProfile> early_profile(const std::string& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return profile_in(file);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Runs the spare process, or a new one if there is no spare or it ends before it has received the arguments.
ChildResult run(const ProfilerProgram& program, ChildProcess* spare, const std::vector<std::string>& arguments,
                const std::function<bool()>& stopped) {
  if (spare) {
    bool asked = false;
    ChildResult end = spare->result([&] { return asked = stopped(); }, program.limit, packed_words(arguments));
    if (got_words(end) || end.timed_out || asked) return end;
  }
  return child_result(program.file, arguments, stopped, program.limit);
}

/// Takes one profile. Delivers it as soon as its file exists, because the process needs 0.1 s more to leave the GPU.
void run_profiler(const ProfilerProgram& program, ChildProcess* spare, ProfileOrder& order,
                  const std::stop_token& stop) {
  bool given = false;
  const auto look = [&] {
    if (std::optional<KernelProfile> early = given ? std::nullopt : early_profile(order.result_file)) {
      order.result.set_value(std::move(*early));
      given = true;
    }
    return stop.stop_requested() || stop_requested();
  };
  try {
    const ChildResult child = run(program, spare, order.arguments, look);
    if (given) return;
    if (!child.not_started.empty()) throw std::runtime_error(child.not_started);
    if (child.timed_out) {
      throw std::runtime_error(fmt::format("it was not ready after {} s; fewer bodies take less time",
                                           std::chrono::duration<double>(program.limit).count()));
    }
    if (child.status != 0) {
      const std::string why = last_complaint(child);
      throw std::runtime_error(why.empty() ? "the process that profiles ended early" : why);
    }
    order.result.set_value(profile_in(order.result_file));
  } catch (const std::exception&) {
    order.result.set_exception(std::current_exception());
  }
}

/// Runs one process on its own thread, because a process ends with the thread that started it. If `preparation` is
/// empty (see start_spare()), starts the process with the order. Returns if the promise of `awaited` is destroyed.
void serve(const ProfilerProgram& program, const std::vector<std::string>& preparation,
           std::future<ProfileOrder> awaited, const std::stop_token& stop) {
  const std::unique_ptr<ChildProcess> spare = preparation.empty() ? nullptr : start_spare(program.file, preparation);
  ProfileOrder order;
  try {
    order = awaited.get();
  } catch (const std::future_error&) {
    return;
  }
  run_profiler(program, spare.get(), order, stop);
}

}  // namespace

std::vector<std::string> profile_arguments(const Status& shown, std::optional<int> device,
                                           const std::string& result_file, const std::string& kernel_file) {
  std::vector<std::string> words{"profile", "--json", result_file};
  if (kernel_file.empty()) {
    words.insert(words.end(), {"--kernels", shown.kernel_id});
  } else {
    words.insert(words.end(), {"--kernel-file", kernel_file});
  }
  for (const auto& [name, value] : shown.settings.values()) {
    words.insert(words.end(), {"--set", fmt::format("{}={}", name, value)});
  }
  std::ranges::move(law_arguments(shown.law), std::back_inserter(words));
  if (device) words.insert(words.end(), {"--device", fmt::format("{}", *device)});
  if (!shown.scene.file.empty()) {
    const std::vector<std::string> hints = hint_words(shown.scene.hints);
    words.insert(words.end(), hints.begin(), hints.end());
    words.insert(words.end(), {"--", shown.scene.file});
    return words;
  }
  words.insert(words.end(), {"--scene", shown.scene.scene, "-n", fmt::format("{}", shown.count)});
  if (find_scene(shown.scene.scene).random) words.insert(words.end(), {"--seed", fmt::format("{}", shown.scene.seed)});
  return words;
}

void ProfileControl::start(const Status& shown, std::optional<int> device, ProfileStatus& status) {
  if (process_.valid()) throw UsageError("a profile is being taken; wait for its end before you take another one");
  if (shown.choosing) throw UsageError("auto is measuring kernels; profile when it has chosen one");
  const auto folder = std::make_shared<const TemporaryFolder>();  // exists while the process runs
  const std::string result_file = (*folder / "profile.json").string();
  std::string kernel_file;
  if (shown.kernel && shown.kernel->file_text) {
    kernel_file = folder->write(shown.kernel_id + ".cu", shown.kernel->file_text).string();
  }
  status.active = true;
  status.error.clear();
  started_ = std::chrono::steady_clock::now();
  version_ = shown.kernel ? shown.kernel->file_version : 0;
  status.present =
      KernelProfile{.kernel_id = shown.kernel_id, .settings = shown.settings.changes(), .kernel_version = version_}
          .label();
  ProfileOrder order{.arguments = profile_arguments(shown, device, result_file, kernel_file),
                     .result_file = result_file,
                     .folder = folder};
  in_flight_ = order.result.get_future();
  Profiler profiler = spare_ && device == spare_device_ ? *std::exchange(spare_, std::nullopt) : launch({});
  profiler.order.set_value(std::move(order));
  process_ = std::move(profiler.thread);
}

auto ProfileControl::launch(std::vector<std::string> preparation) const -> Profiler {
  std::promise<ProfileOrder> order;
  auto serves = [program = program_, preparation = std::move(preparation), awaited = order.get_future(),
                 stop = stop_.get_token()]() mutable { serve(program, preparation, std::move(awaited), stop); };
  return {.thread = std::async(std::launch::async, std::move(serves)), .order = std::move(order)};
}

void ProfileControl::prepare(int device) {
  if (process_.valid() || (spare_ && spare_device_ == device)) return;
  drop_spare();
  spare_device_ = device;
  spare_ = launch({"profile", "--device", fmt::format("{}", device)});
}

void ProfileControl::drop_spare() {
  if (!spare_) return;
  ending_.push_back(std::move(spare_->thread));
  spare_.reset();
}

void ProfileControl::compare(const CompareProfile& asked, ProfileStatus& status) {
  const auto rows = static_cast<int>(status.profiles.size());
  if (asked.row != CompareProfile::previous && asked.row >= rows) {
    throw UsageError(fmt::format("there is no profile {}; there {}", asked.row + 1,
                                 rows == 1 ? "is 1" : fmt::format("are {}", rows)));
  }
  status.compared_with = asked.row;
}

bool ProfileControl::tick(ProfileStatus& status) {
  const bool ended = in_flight_.valid() && is_ready(in_flight_);
  if (ended) take(status);
  if (process_.valid() && is_ready(process_)) process_.get();
  std::erase_if(ending_, [](const auto& thread) { return is_ready(thread); });
  status.active = process_.valid();
  return ended;
}

void ProfileControl::finish(ProfileStatus& status) {
  if (in_flight_.valid()) take(status);
  if (process_.valid()) process_.get();
  status.active = false;
}

void ProfileControl::take(ProfileStatus& status) {
  try {
    status.profiles.push_back(in_flight_.get());
    status.profiles.back().kernel_version = version_;
    status.taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  } catch (const std::exception& failure) {
    status.error = one_line(failure_text(failure));
  }
  if (status.profiles.size() <= ProfileStatus::most_profiles) return;
  status.profiles.erase(status.profiles.begin());
  if (status.compared_with != CompareProfile::previous && --status.compared_with < 0) {
    status.compared_with = CompareProfile::previous;
  }
}

namespace {

/// Profiles of the shown kernel as a part of the window.
class ProfileWindow final : public WindowFeature {
 public:
  explicit ProfileWindow(Session& session) : session_{session} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, profile_commands); }

  /// Starts a profile. A deterministic run blocks until the profile is taken.
  void carry_out(const ProfileKernel&) {
    control_.start(session_.lane.status(), session_.backends.device_ordinal(), status());
    if (!session_.lockstep) return;
    control_.finish(status());
    report();
  }

  void carry_out(const CompareProfile& c) { ProfileControl::compare(c, status()); }

  void follow() override {
    if (control_.tick(status())) report();
    const std::optional<int> device = session_.backends.device_ordinal();
    const Status& shown = session_.lane.status();
    const bool is_seen = session_.view.panel && session_.panels.lab.tab == "profile" && !session_.lockstep;
    const bool measures = session_.view.measuring() || shown.choosing;
    if (is_seen && !measures && device && shown.kernel && shown.kernel->backend == Backend::cuda) {
      control_.prepare(*device);
    } else {
      control_.drop_spare();
    }
  }

 private:
  ProfileStatus& status() const { return session_.view.features.of<ProfileStatus>(); }

  void report() const {
    const ProfileStatus& profile = status();
    if (!profile.error.empty()) {
      console::complain("no profile: " + profile.error);
    } else {
      console::print("profile of {}: taken in {:.2f} s\n", profile.present, profile.taken_s);
    }
  }

  Session& session_;
  ProfileControl control_;
};

}  // namespace

std::unique_ptr<WindowFeature> make_profile(Session& session) {
  return std::make_unique<ProfileWindow>(session);
}

}  // namespace orrery
