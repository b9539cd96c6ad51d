// The workshop: one kernel file, its versions, and the version in the catalog.
#include "app/features/workshop/kernel_workshop.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "app/text/input_file.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

using WorkshopClock = std::chrono::steady_clock;

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16] = "";
  (void)std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::vector<WorkshopMessage> shown_messages(const std::vector<FileMessage>& messages) {
  std::vector<WorkshopMessage> shown;
  for (const FileMessage& message : messages) shown.push_back({message.line, message.is_error, message.text});
  return shown;
}

/// Reads a kernel file. Throws std::runtime_error if it cannot be read or is too large.
std::string read_whole(const std::string& file) {
  std::string text = read_text(file);
  require_kernel_file_size(file, text.size());
  return text;
}

}  // namespace

KernelWorkshop::KernelWorkshop(Tools tools)
    : tools_{std::move(tools)}, thread_{[this](const std::stop_token& stop) { run(stop); }} {}

KernelWorkshop::~KernelWorkshop() {
  thread_.request_stop();
  watch_.wake();
}

template <class Change>
void KernelWorkshop::change(Change change) {
  const std::lock_guard lock{mutex_};
  change();
}

void KernelWorkshop::require_file() const {
  if (status_.file.empty()) throw UsageError("no kernel file is open: workshop-open FILE opens one");
}

void KernelWorkshop::open(const std::string& file) {
  const std::lock_guard lock{mutex_};
  (void)read_whole(file);  // throws if the file does not exist
  watch_.watch(file);
  if (file != status_.file) {
    const int texts = status_.text_number;
    status_ = {};
    status_.text_number = texts;
    status_.file = file;
    texts_.clear();
    accepted_.reset();
  }
  asked_ = true;
  ++requests_;
  watch_.wake();
}

void KernelWorkshop::close() {
  const std::lock_guard lock{mutex_};
  require_file();
  const int texts = status_.text_number;
  status_ = {};
  status_.text_number = texts;
  texts_.clear();
  accepted_.reset();
}

std::optional<KernelHistory> KernelWorkshop::history() const {
  const std::lock_guard lock{mutex_};
  if (status_.file.empty()) return std::nullopt;
  KernelHistory history{.file = status_.file, .kernel_id = status_.kernel_id, .versions = {}};
  for (std::size_t i = 0; i < texts_.size(); ++i) history.versions.push_back({status_.versions[i], texts_[i]});
  return history;
}

void KernelWorkshop::restore(const KernelHistory& history) {
  const std::lock_guard lock{mutex_};
  watch_.watch(history.file);
  status_.file = history.file;
  status_.kernel_id = history.kernel_id;
  for (const auto& [facts, text] : history.versions) {
    status_.versions.push_back(facts);
    texts_.push_back(text);
  }
  if (texts_.empty()) return;
  const WorkshopVersion& latest = status_.versions.back();
  status_.text = texts_.back();
  status_.text_number = latest.number;
  status_.state = latest.accepted ? WorkshopState::running : WorkshopState::unchecked;
  if (!latest.error.empty()) show_rejection(latest.error, {{0, true, latest.error}});
  judged_ = true;
}

void KernelWorkshop::compile_again() {
  const std::lock_guard lock{mutex_};
  require_file();
  asked_ = true;
  ++requests_;
  watch_.wake();
}

void KernelWorkshop::save(const std::string& text) {
  const std::lock_guard lock{mutex_};
  require_file();
  (void)write_file(status_.file, text, Existing::replace);
  ++requests_;
  watch_.wake();
}

void KernelWorkshop::bring_back(int version) {
  std::string text;
  change([&] {
    require_file();
    if (version < 1 || version > static_cast<int>(texts_.size())) {
      throw UsageError(fmt::format("there is no version {}; there are {}", version, texts_.size()));
    }
    text = texts_[static_cast<std::size_t>(version) - 1];
  });
  save(text);
}

void KernelWorkshop::set_values(const Settings::Values& values) {
  const std::lock_guard lock{mutex_};
  values_ = values;
}

std::optional<AcceptedKernel> KernelWorkshop::take_accepted() {
  const std::lock_guard lock{mutex_};
  return std::exchange(accepted_, std::nullopt);
}

void KernelWorkshop::reject(int version, const std::string& why) {
  const std::lock_guard lock{mutex_};
  const int latest = static_cast<int>(status_.versions.size());
  if (version < 1 || version > latest) return;
  version_of(version).accepted = false;
  version_of(version).error = why;
  if (version < latest) return;
  std::vector<WorkshopMessage> messages = status_.messages;
  messages.insert(messages.begin(), {0, true, why});
  show_rejection(why, std::move(messages));
}

bool KernelWorkshop::busy() const {
  const std::lock_guard lock{mutex_};
  return requests_ != answered_ || status_.state == WorkshopState::compiling ||
         status_.state == WorkshopState::checking;
}

void KernelWorkshop::describe(WorkshopStatus& status) const {
  const std::lock_guard lock{mutex_};
  const bool new_text = status.text_number != status_.text_number || status.file != status_.file;
  status.state = status_.state;
  status.file = status_.file;
  status.kernel_id = status_.kernel_id;
  status.messages = status_.messages;
  status.problem = status_.problem;
  status.versions = status_.versions;
  if (new_text) status.text = status_.text;
  status.text_number = status_.text_number;
}

WorkshopVersion& KernelWorkshop::version_of(int number) {
  return status_.versions[static_cast<std::size_t>(number) - 1];
}

void KernelWorkshop::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    watch_.wait();
    if (watch_.take() && !stop.stop_requested()) take_in_text();
  }
}

/// Returns whether a newer text may have been saved while one is judged. Wakes the thread again, to look at the file.
bool KernelWorkshop::replaced() {
  if (thread_.get_stop_token().stop_requested()) return true;
  if (!watch_.take()) return false;
  watch_.wake();
  return true;
}

void KernelWorkshop::take_in_text() {
  std::string file;
  int requests = 0;
  change([&] {
    (void)watch_.take();  // a save both changes the file and wakes the thread
    file = status_.file;
    requests = requests_;
  });
  std::string text, error;
  int error_line = 0;
  try {
    if (!file.empty()) text = read_whole(file);
  } catch (const KernelFileError& failure) {
    error = failure.what();
    error_line = failure.messages().front().line;
  } catch (const std::exception& failure) {
    error = failure_text(failure);
  }
  int version = 0;
  change([&] {
    answered_ = requests;
    if (file.empty() || file != status_.file) return;
    if (error.empty()) {
      version = version_to_judge(text);
    } else {
      asked_ = judged_ = false;
      show_rejection(error, {{error_line, true, error}});
    }
  });
  if (version > 0) judge(version, file, text);
}

/// Returns the version to judge for this text of the file; 0 if there is nothing to do. Adds a version for a new text.
int KernelWorkshop::version_to_judge(const std::string& text) {
  const bool same = !texts_.empty() && texts_.back() == text;
  const bool asked = std::exchange(asked_, false);
  if (same && judged_ && !asked) return 0;
  if (!same || judged_) {
    if (!texts_.empty()) {
      WorkshopVersion& last = status_.versions.back();
      if (!last.accepted && !last.unchecked && last.error.empty()) last.error = "a newer text was saved";
    }
    ++status_.text_number;
    status_.text = text;
    status_.versions.push_back({.number = static_cast<int>(texts_.size()) + 1, .time = time_of_day(), .error = {}});
    texts_.push_back(text);
  }
  judged_ = false;
  status_.messages.clear();
  status_.problem.clear();
  status_.state = WorkshopState::compiling;
  return status_.versions.back().number;
}

void KernelWorkshop::show_rejection(const std::string& why, std::vector<WorkshopMessage> messages) {
  status_.problem = why;
  status_.messages = std::move(messages);
  status_.state = WorkshopState::rejected;
}

void KernelWorkshop::judge(int version, const std::string& name, const std::string& text) {
  const auto is_latest = [&] { return status_.file == name && static_cast<int>(texts_.size()) == version; };
  const auto reject_with = [&](const std::string& why, std::vector<WorkshopMessage> messages) {
    change([&] {
      if (!is_latest()) return;
      version_of(version).error = why;
      judged_ = true;
      show_rejection(why, std::move(messages));
    });
  };
  std::atomic<bool> left{false};
  const auto cancelled = [&] { return left || (left = replaced()); };
  try {
    const auto file = std::make_shared<const KernelFile>(parse_kernel_file(name, text));
    Settings::Values values;
    change([&] {
      if (is_latest()) status_.kernel_id = file->id;
      values = values_;
    });
    auto begin = WorkshopClock::now();
    const std::vector<FileMessage> warnings = tools_.compile(*file, values, cancelled);
    const std::chrono::duration<double, std::milli> compile_ms = WorkshopClock::now() - begin;
    change([&] {
      if (!is_latest()) return;
      version_of(version).compiles = true;
      version_of(version).compile_ms = compile_ms.count();
      status_.messages = shown_messages(warnings);
      status_.state = WorkshopState::checking;
    });
    begin = WorkshopClock::now();
    const KernelCheck check = tools_.check(*file, values, cancelled);
    if (left) return;  // the thread reads the file again, perhaps with the same text
    const std::chrono::duration<double> check_s = WorkshopClock::now() - begin;
    change([&] {
      if (!is_latest()) return;
      judged_ = true;
      version_of(version).unchecked = check.not_here;
      if (check.not_here) status_.state = WorkshopState::unchecked;
      if (check.not_here) return;
      version_of(version).check_s = check_s.count();
      version_of(version).largest_error = check.largest_error;
      version_of(version).remark = check.remark;
      version_of(version).accepted = check.problem.empty();
      if (!check.problem.empty()) return;
      status_.state = WorkshopState::running;
      accepted_ = AcceptedKernel{version, file};
    });
    if (!check.problem.empty())
      reject_with(check.problem, {{check.line.value_or(file->function_line), true, check.problem}});
  } catch (const KernelFileError& error) {
    reject_with(error.what(), shown_messages(error.messages()));
  } catch (const std::exception& error) {
    if (!left) reject_with(failure_text(error), {{1, true, failure_text(error)}});
  }
}

void PlacedKernel::place(const AcceptedKernel& version) {
  of_file_.push_back(put_(kernels_, version));
}

void PlacedKernel::put(const AcceptedKernel& version) {
  const bool same = present_.file && present_.version == version.version && present_.file->text == version.file->text;
  if (same) return;
  place(version);
  last_ = std::exchange(present_, version);
}

void PlacedKernel::take_back() {
  const AcceptedKernel refused = std::exchange(present_, std::exchange(last_, {}));
  if (refused.file && is(refused.file->id)) {
    place(present_);
  } else if (refused.file) {
    kernels_.remove(refused.file->id);
  }
}

void PlacedKernel::forget_numbers() {
  present_.version = 0;
  of_file_.clear();
}

KernelPtr PlacedKernel::kernel_of(int version) const {
  const auto found = std::ranges::find(of_file_.rbegin(), of_file_.rend(), version,
                                       [](const KernelPtr& kernel) { return kernel->file_version; });
  return found == of_file_.rend() ? nullptr : *found;
}

int PlacedKernel::version_of(std::string_view id, int revision) const {
  const auto found = std::ranges::find_if(
      of_file_, [&](const KernelPtr& kernel) { return id == kernel->id && revision == kernel->revision; });
  return found == of_file_.end() ? 0 : (*found)->file_version;
}

namespace {

namespace fs = std::filesystem;

/// Returns the file and the targets of its links.
std::vector<fs::path> with_targets(const fs::path& file) {
  constexpr std::size_t most_links = 40;  // limit of the system
  std::vector<fs::path> paths{file};
  std::error_code failure;
  while (paths.size() <= most_links && fs::is_symlink(paths.back(), failure)) {
    const fs::path target = fs::read_symlink(paths.back(), failure);
    if (failure) break;
    paths.push_back(paths.back().parent_path() / target);
  }
  return paths;
}

constexpr std::uint32_t of_file = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF | IN_MASK_ADD;
constexpr std::uint32_t of_folder = IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_MASK_ADD;
constexpr std::chrono::milliseconds for_a_save{200};  // editors may delete a file just before they write it

}  // namespace

FileWatch::FileWatch()
    : notify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)}, wakes_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!notify_ || !wakes_) throw std::runtime_error(std::string{"cannot watch files: "} + std::strerror(errno));
}

void FileWatch::watch(const std::string& file) {
  const std::lock_guard lock{mutex_};
  const fs::path path = fs::absolute(file);
  if (!fs::is_directory(path.parent_path())) {
    throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() + "': there is none");
  }
  follow_links(path);
  file_ = path;
}

void FileWatch::follow_links(const fs::path& file) {
  std::vector<Place> places;
  for (fs::path path : with_targets(file)) {
    int folder = inotify_add_watch(notify_.number(), path.parent_path().c_str(), of_file);
    const bool missing = folder < 0;
    while (folder < 0 && errno == ENOENT) {
      path = path.parent_path();
      folder = inotify_add_watch(notify_.number(), path.parent_path().c_str(), of_folder);
    }
    if (folder < 0) {
      throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() +
                               "': " + std::strerror(errno));
    }
    places.push_back({folder, path.filename().string(), missing});
  }
  for (const Place& old : std::exchange(places_, places)) {
    if (std::ranges::find(places, old.folder, &Place::folder) != places.end()) continue;
    (void)inotify_rm_watch(notify_.number(), old.folder);
  }
}

void FileWatch::wait() {
  int limit_ms = -1;
  if (const std::lock_guard lock{mutex_}; gone_) limit_ms = static_cast<int>(for_a_save.count());
  std::array<pollfd, 2> wanted{pollfd{.fd = notify_.number(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = wakes_.number(), .events = POLLIN, .revents = 0}};
  while (poll(wanted.data(), wanted.size(), limit_ms) < 0 && errno == EINTR) continue;
}

bool FileWatch::take() {
  const std::lock_guard lock{mutex_};
  const bool saved = read_events(), woken = read_wakes();
  if (!saved && !woken && !(gone_ && Clock::now() - *gone_ >= for_a_save)) return false;
  gone_.reset();
  return true;
}

/// Reads the events of the watched places. Returns whether the file was saved.
bool FileWatch::read_events() {
  bool saved = false, gone = false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = read(notify_.number(), buffer.data(), buffer.size())) > 0;) {
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      saved |= (event->mask & IN_Q_OVERFLOW) != 0;
      for (const Place& place : places_) {
        const bool folder_itself = event->len == 0;
        if (event->wd != place.folder || !(folder_itself || place.name == event->name)) continue;
        const bool save = !folder_itself && !place.is_folder && (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
        (save ? saved : gone) = true;
      }
      at += sizeof(inotify_event) + event->len;
    }
  }
  if (gone && !gone_) gone_ = Clock::now();
  try {
    if (saved || gone) follow_links(file_);  // links or folders may be new
  } catch (const std::runtime_error&) {
    // A link or folder is missing. Reading the file reports that.
  }
  return saved;
}

bool FileWatch::read_wakes() const {
  std::uint64_t count = 0;
  return read(wakes_.number(), &count, sizeof count) == sizeof count;
}

void FileWatch::wake() {
  const std::uint64_t one = 1;
  (void)!write(wakes_.number(), &one, sizeof one);
}

}  // namespace orrery
