// Films that are being made, and the threads that process their frames.
#include "app/features/film/film.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "render/image.h"

namespace orrery {
namespace {

std::unique_ptr<FilmOutput> make_output(const FilmOptions& options, WindowSize size, Existing existing) {
  if (options.folder) return std::make_unique<FrameFolder>(options, size, existing);
  return std::make_unique<FilmFile>(options, size, existing);
}

}  // namespace

FrameWorkers::FrameWorkers(int threads, std::size_t frame_bytes, std::function<void(const FilmFrame&)> work)
    : frame_bytes_{frame_bytes}, work_{std::move(work)}, not_made_yet_{static_cast<std::size_t>(threads) + 2} {
  for (int i = 0; i < threads; ++i) threads_.push_back(start_thread([this] { run(); }));
}

FrameWorkers::~FrameWorkers() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

void FrameWorkers::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool FrameWorkers::has_free() {
  const std::lock_guard lock{mutex_};
  return failure_ || not_made_yet_ > 0 || !free_.empty();
}

FilmFrame FrameWorkers::take_free() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return failure_ || !free_.empty() || not_made_yet_ > 0; });
  rethrow();
  if (free_.empty()) {
    --not_made_yet_;
    lock.unlock();
    return {.number = 0, .rgba = std::vector<std::uint8_t>(frame_bytes_)};
  }
  FilmFrame frame = std::move(free_.back());
  free_.pop_back();
  return frame;
}

void FrameWorkers::add(FilmFrame frame) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(frame));
  }
  changed_.notify_all();
}

void FrameWorkers::finish() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return at_work_ == 0 && (failure_ || waiting_.empty()); });
  rethrow();
}

void FrameWorkers::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || (!waiting_.empty() && !failure_); });
    if (ending_) return;
    FilmFrame frame = std::move(waiting_.front());
    waiting_.pop_front();
    ++at_work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_(frame);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --at_work_;
    if (failure && !failure_) failure_ = failure;
    free_.push_back(std::move(frame));
    changed_.notify_all();
  }
}

Film::Film(const FilmOptions& options, WindowSize size, std::int64_t frames, Existing existing)
    : options_{options}, frames_{frames}, output_{make_output(options, size, existing)}, progress_{options.progress} {
  const std::size_t bytes = 4 * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  workers_ = std::make_unique<FrameWorkers>(output_->threads(), bytes,
                                            [this](const FilmFrame& frame) { output_->add(frame); });
}

void Film::begin(const Json& run) {
  output_->begin(run);
  begin_ = last_ = Clock::now();
  const std::set<std::int64_t>& kept = output_->kept();
  kept_ = std::distance(kept.begin(), kept.lower_bound(frames_));
  last_wanted_ = frames_ - 1;
  while (kept.contains(last_wanted_)) --last_wanted_;
  if (kept_ == 0) return;
  console::print("kept {} of {} in {}\n", format_count(kept_), counted(frames_, "frame"), options_.out);
}

void Film::add(FilmFrame frame) {
  const std::int64_t times = frame.times;
  workers_->add(std::move(frame));
  added_ += times;
  ++pictures_;
}

void Film::show_progress(std::int64_t frame, bool drawn) {
  const Clock::time_point now = Clock::now();
  Pace& pace = drawn ? drawn_ : passed_;
  ++pace.frames;
  pace.total_s += std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  const std::int64_t left_to_pass = kept_ - passed_.frames, left_to_draw = frames_ - frame - 1 - left_to_pass;
  std::optional<double> left_s;
  if (drawn_.frames > 0) {
    left_s = static_cast<double>(left_to_draw) * drawn_.per_frame_s() +
             static_cast<double>(left_to_pass) * passed_.per_frame_s();
  }
  std::string what = fmt::format("frame {} of {}", format_count(frame + 1), format_count(frames_));
  if (drawn_.total_s > 0) {
    what += fmt::format(", {:.3g} frames/s", static_cast<double>(drawn_.frames) / drawn_.total_s);
  }
  progress_.show_left(left_s, what, part_of(frame + 1, frames_));
}

std::string Film::finish() {
  if (std::exchange(finished_, true)) return {};
  workers_->finish();
  progress_.clear();
  if (added_ == 0) return {};
  const std::string name = output_->finish();
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::int64_t total = added_ + kept_;
  const std::string parts = kept_ > 0 ? fmt::format(" ({} kept)", format_count(kept_)) : std::string{};
  const std::string source =
      pictures_ < added_
          ? fmt::format("{}, shown for several frames", counted(pictures_, "picture"))
          : fmt::format("rendered {:.3g} frames/s", elapsed_s > 0 ? static_cast<double>(pictures_) / elapsed_s : 0);
  return fmt::format("wrote {}: {}{}, {:.4g} s at {:g} frames/s; {}", printable(name), counted(total, "frame"), parts,
                     static_cast<double>(total) / options_.fps, options_.fps, source);
}

namespace {

// BT.709 with luma from 16 to 235 and chroma from 16 to 240, in units of 2^-16.
constexpr double one = 65536, luma_range = 219.0 / 255, chroma_range = 224.0 / 255;
constexpr double red = 0.2126, green = 0.7152, blue = 0.0722;

constexpr std::int32_t fixed(double value) {
  return static_cast<std::int32_t>(value * one + (value < 0 ? -0.5 : 0.5));
}

struct Weights {
  std::int32_t r, g, b;
};

constexpr std::int32_t luma_red = fixed(luma_range * red), luma_green = fixed(luma_range * green),
                       luma_blue = fixed(luma_range * blue);

constexpr Weights luma{luma_red, luma_green, luma_blue};

// Green is minus the rounded sum of the others, so that the weights sum to 0 and grey has no chroma.
constexpr std::int32_t half = fixed(chroma_range / 2), red_in_blue = fixed(-chroma_range / 2 * red / (1 - blue)),
                       blue_in_red = fixed(-chroma_range / 2 * blue / (1 - red));

constexpr Weights blue_difference{red_in_blue, -red_in_blue - half, half};
constexpr Weights red_difference{half, -blue_in_red - half, blue_in_red};

using Pixel = std::uint32_t;  // red in the lowest byte

Pixel pixel(const std::uint8_t* row, int x) {
  Pixel pixel;
  std::memcpy(&pixel, row + 4 * static_cast<std::ptrdiff_t>(x), sizeof pixel);
  return pixel;
}

void write_luma(const std::uint8_t* __restrict row, int width, std::uint8_t* __restrict to) {
  for (int x = 0; x < width; ++x) {
    const Pixel p = pixel(row, x);
    const auto r = static_cast<std::int32_t>(p & 255), g = static_cast<std::int32_t>(p >> 8 & 255),
               b = static_cast<std::int32_t>(p >> 16 & 255);
    to[x] = static_cast<std::uint8_t>((luma.r * r + luma.g * g + luma.b * b + fixed(16.5)) >> 16);
  }
}

/// Sum of pixels: red in the low and blue in the high 16 bits of red_blue, and green.
struct Sum {
  std::uint32_t red_blue, green;
};

/// Returns the chroma of a sum of eight pixels.
std::uint8_t chroma(const Weights& weights, Sum sum) {
  const auto r = static_cast<std::int32_t>(sum.red_blue & 0xffff), b = static_cast<std::int32_t>(sum.red_blue >> 16),
             g = static_cast<std::int32_t>(sum.green);
  return static_cast<std::uint8_t>((weights.r * r + weights.g * g + weights.b * b + 8 * fixed(128.5)) >> 19);
}

/// Writes one row of chroma. MPEG chroma sites are at even columns, vertically between two rows.
void write_chroma(const std::uint8_t* __restrict upper, const std::uint8_t* __restrict lower, int width,
                  std::uint8_t* __restrict to_blue, std::uint8_t* __restrict to_red) {
  const auto write = [&](int x, int left, int right) {
    const auto column = [&](int at) {
      const Pixel a = pixel(upper, at), b = pixel(lower, at);
      return Sum{(a & 0xff00ff) + (b & 0xff00ff), (a >> 8 & 255) + (b >> 8 & 255)};
    };
    const Sum before = column(left), middle = column(2 * x), after = column(right);
    const Sum sum{before.red_blue + 2 * middle.red_blue + after.red_blue,
                  before.green + 2 * middle.green + after.green};
    to_blue[x] = chroma(blue_difference, sum);
    to_red[x] = chroma(red_difference, sum);
  };
  write(0, 0, std::min(1, width - 1));
  for (int x = 1; x < width / 2; ++x) write(x, 2 * x - 1, 2 * x + 1);
  if (width % 2 && width > 1) write(width / 2, width - 2, width - 1);
}

}  // namespace

void write_video_frame(std::span<const std::uint8_t> rgba, int width, int height, std::vector<std::uint8_t>& video) {
  const int columns = even_size(width), rows = even_size(height);
  const auto pixels = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  video.resize(pixels + pixels / 2);
  std::uint8_t* y = video.data();
  std::uint8_t* cb = y + pixels;
  std::uint8_t* cr = cb + pixels / 4;
  const auto row = [&](int from_top) {
    const int from_bottom = height - 1 - std::min(from_top, height - 1);
    return rgba.data() + 4 * static_cast<std::ptrdiff_t>(width) * from_bottom;
  };
  for (int i = 0; i < rows; ++i, y += columns) {
    write_luma(row(i), width, y);
    if (width % 2) y[width] = y[width - 1];
  }
  for (int i = 0; i < rows; i += 2, cb += columns / 2, cr += columns / 2) {
    write_chroma(row(i), row(i + 1), width, cb, cr);
  }
}
namespace {

constexpr int file_number = 3;           // file descriptor of the film in ffmpeg
constexpr int pipe_bytes = 1 << 20;      // bytes; the system allows this much to every user
constexpr std::size_t most_kept = 1000;  // bytes of ffmpeg's last line that are kept
constexpr std::chrono::milliseconds look{5};

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("cannot make a pipe: {}", strerror(errno)));
    read = Descriptor{ends[0]};
    write = Descriptor{ends[1]};
  }
  Descriptor read, write;
};

/// Returns ffmpeg's command line: H.264 that every player and browser shows, with the colours of HD video.
std::vector<std::string> arguments_of(int width, int height, double fps) {
  return {"ffmpeg",
          "-hide_banner",
          "-loglevel",
          "error",
          "-nostdin",
          "-y",
          "-f",
          "rawvideo",
          "-pixel_format",
          "yuv420p",
          "-video_size",
          fmt::format("{}x{}", even_size(width), even_size(height)),
          "-framerate",
          shortest_text(fps),
          "-i",
          "pipe:0",
          "-c:v",
          "libx264",
          "-preset",
          "veryfast",
          "-crf",
          "18",
          "-colorspace",
          "bt709",
          "-color_primaries",
          "bt709",
          "-color_trc",
          "bt709",
          "-color_range",
          "tv",
          "-movflags",
          "+faststart",
          "-f",
          "mp4",
          fmt::format("/proc/self/fd/{}", file_number)};
}

/// Returns the processor time that a process has used, in nanoseconds; 0: it has ended.
std::int64_t used_time(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return used.tv_sec * std::int64_t{1'000'000'000} + used.tv_nsec;
}

/// Returns why the file cannot grow, which ffmpeg may not say; empty if it can. A test write spoils the file.
std::string no_room(int file) {
  const std::vector<char> block(1 << 16);
  const off_t end = lseek(file, 0, SEEK_END);
  const ssize_t size = end < 0 ? 0 : pwrite(file, block.data(), block.size(), end);
  if (end < 0 || size == static_cast<ssize_t>(block.size())) return {};
  return std::generic_category().message(size < 0 ? errno : ENOSPC);
}

/// Returns whether the file begins like MP4: with a box of the type ftyp.
bool is_mp4(int file) {
  const std::string path = fmt::format("/proc/self/fd/{}", file);
  const Descriptor again{open(path.c_str(), O_RDONLY | O_CLOEXEC)};  // `file` is open only for writing
  std::array<char, 8> begin{};
  return again && pread(again.number(), begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         std::string_view{begin.data() + 4, 4} == "ftyp";
}

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/// Reads the stream to its end. Keeps the last line that is not empty in `last`.
void read_last_line(int from, std::string& last) {
  std::string line;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = read(from, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    for (const char c : std::string_view{part.data(), static_cast<std::size_t>(size)}) {
      if (c == '\n' || c == '\r') {
        line.clear();
      } else if (line.size() < most_kept) {
        line += c;
        last = line;
      }
    }
  }
}

}  // namespace

Encoder::Encoder(int width, int height, double fps, int file, std::string name, std::chrono::milliseconds patience)
    : width_{width}, height_{height}, file_{file}, name_{std::move(name)}, patience_{patience} {
  Pipe frames, errors;
  start(fps, file, frames.read, errors.write);
  frames_ = std::move(frames.write);
  (void)fcntl(frames_.number(), F_SETFL, O_NONBLOCK);       // so that watch() can run while ffmpeg reads nothing
  (void)fcntl(frames_.number(), F_SETPIPE_SZ, pipe_bytes);  // fewer switches between the processes, where allowed
  reader_ = start_thread([this, from = std::move(errors.read)] { read_last_line(from.number(), last_line_); });
}

Encoder::~Encoder() {
  if (process_ < 0) return;
  given_up_ = true;
  kill(-process_, SIGKILL);
  (void)wait_for_end();
}

void Encoder::start(double fps, int file, const Descriptor& input, const Descriptor& errors) {
  std::vector<std::string> words = arguments_of(width_, height_, fps);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.number(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, file, file_number);
  posix_spawn_file_actions_addclosefrom_np(&actions, file_number + 1);
  // Its own process group keeps the terminal's Ctrl+C from ffmpeg. The signals have their default actions.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const int failed = posix_spawnp(&process_, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return end_group_with_program(process_);
  process_ = -1;
  if (failed != ENOENT) fail("cannot start ffmpeg: " + std::generic_category().message(failed));
  fail("the program ffmpeg is not installed (Debian: ffmpeg); --out FOLDER saves PNG frames without it");
}

void Encoder::fail(const std::string& cause) const {
  throw std::runtime_error(cannot_write(name_, cause));
}

/// Kills ffmpeg and throws if it hangs after a request to stop. Call repeatedly while ffmpeg is busy.
void Encoder::watch() {
  const auto now = std::chrono::steady_clock::now();
  const std::int64_t used = used_time(process_);
  if (!stop_requested() || std::exchange(used_, used) != used || !last_sign_) last_sign_ = now;
  if (now - *last_sign_ < patience_) return;
  given_up_ = true;
  kill(-process_, SIGKILL);
  (void)wait_for_end();
  fail("ffmpeg hangs; it was killed after the request to stop");
}

/// Waits for the end of ffmpeg. Returns its status as waitpid() does.
int Encoder::wait_for_end() {
  frames_ = {};
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == process_ || (ended < 0 && errno != EINTR)) break;
    std::this_thread::sleep_for(look);
    if (!given_up_) watch();
  }
  kill(-std::exchange(process_, -1), SIGKILL);  // its children may hold its standard error open
  end_group_with_program(0);
  if (reader_.joinable()) reader_.join();
  return status;
}

void Encoder::check_end() {
  const int status = wait_for_end();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ended ffmpeg", WTERMSIG(status))
                                              : fmt::format("ffmpeg ended with status {}", WEXITSTATUS(status));
  const std::string why = last_line_.empty() ? how : how + ": " + last_line_;
  const std::string room = is_regular(file_) ? no_room(file_) : std::string{};
  fail(room.empty() ? why : room + "; " + why);
}

void Encoder::write(std::span<const std::uint8_t> rgba, std::int64_t times) {
  write_video_frame(rgba, width_, height_, video_);
  for (std::int64_t time = 0; time < times; ++time) send_frame();
}

void Encoder::send_frame() {
  std::span<const std::uint8_t> rest = video_;
  while (!rest.empty()) {
    const ssize_t size = ::write(frames_.number(), rest.data(), rest.size());
    if (size > 0) {
      rest = rest.subspan(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      pollfd room{.fd = frames_.number(), .events = POLLOUT, .revents = 0};
      if (poll(&room, 1, static_cast<int>(look.count())) == 0) watch();
    } else if (errno != EINTR) {
      const int error = errno;
      check_end();
      fail(error == EPIPE ? "ffmpeg ended too early" : std::generic_category().message(error));
    }
  }
}

void Encoder::finish() {
  check_end();
  if (is_regular(file_) && !is_mp4(file_)) fail("ffmpeg ended without an error, but wrote no film");
}

FilmFile::FilmFile(const FilmOptions& options, WindowSize size, Existing existing)
    : file_{options.out, existing}, encoder_{size.width, size.height, options.fps, file_.descriptor(), options.out} {}

std::string FilmFile::finish() {
  encoder_.finish();
  return file_.commit().string();
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "frame-", suffix = ".png";
constexpr const char* description = "film.json";
constexpr double most_bytes = 2e9;             // most memory for the frames in progress
constexpr double bytes_per_pixel = 4 + 3 + 3;  // frame, its image, and at most the same for the PNG file

std::string name_of(std::int64_t frame) {
  return fmt::format("{}{:06}{}", prefix, frame, suffix);
}

/// Returns the number of the frame in the file of this name; negative: no frame's name.
std::int64_t number_of(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size()) return -1;
  const auto digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const auto number = parsed_number<std::int64_t>(digits);
  return number && *number >= 0 && name_of(*number) == name ? *number : -1;
}

[[noreturn]] void fail(const fs::path& folder, const std::string& cause) {
  throw std::runtime_error(fmt::format("cannot use the folder '{}': {}", folder.string(), cause));
}

}  // namespace

FrameFolder::FrameFolder(const FilmOptions& options, WindowSize size, Existing existing)
    : folder_{options.out}, size_{size}, existing_{existing} {
  std::error_code error, unknown;
  fs::create_directories(folder_, error);
  if (fs::exists(folder_, unknown) && !fs::is_directory(folder_, unknown)) {
    fail(folder_, "it is a file; a film's name ends in .mp4");
  }
  if (error) fail(folder_, error.message());
  if (access(folder_.c_str(), R_OK | W_OK | X_OK) != 0) fail(folder_, std::generic_category().message(errno));
  find_frames();
}

fs::path FrameFolder::file_of(std::int64_t frame) const {
  return folder_ / name_of(frame);
}

void FrameFolder::find_frames() {
  std::error_code error;
  for (fs::directory_iterator at{folder_, error}; !error && at != fs::directory_iterator{}; at.increment(error)) {
    const std::int64_t number = number_of(at->path().filename().string());
    std::error_code no_file;
    if (number >= 0 && fs::is_regular_file(at->symlink_status(no_file)) && at->file_size(no_file) > 0)
      kept_.insert(number);
  }
  if (error) fail(folder_, error.message());
}

void FrameFolder::begin(const Json& run) {
  const std::string text = json_text(run, 2);  // without bytes that are not UTF-8, which file names may have
  if (existing_ == Existing::replace) {
    std::error_code error;
    for (const std::int64_t frame : kept_) {
      if (!fs::remove(file_of(frame), error) && error) fail(folder_, error.message());
    }
    kept_.clear();
  }
  film_ = fingerprint(text);
  if (!kept_.empty()) {
    check_same(Json::parse(text));
    return drop_damaged();
  }
  write_file(folder_ / description, text + '\n', Existing::replace_here);
}

std::string FrameFolder::words_of(std::int64_t frame) const {
  return fmt::format("film {} frame {}", film_, frame);
}

/// Removes frames from kept_ that are incomplete, of another size or of another film. They are rendered again.
void FrameFolder::drop_damaged() {
  const auto is_frame = [this](std::int64_t number) {
    std::ifstream in{file_of(number), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    const std::optional<render::PngFacts> facts = render::read_png_facts(bytes);
    return facts && facts->width == size_.width && facts->height == size_.height &&
           facts->description == words_of(number);
  };
  const auto damaged = std::erase_if(kept_, [&](std::int64_t number) { return !is_frame(number); });
  if (damaged == 0) return;
  console::complain(fmt::format("{} in '{}' cannot be kept: damaged, or of another film; rendered again",
                                counted(damaged, "frame"), printable(folder_.string())));
}

void FrameFolder::check_same(const Json& run) const {
  const std::string cure = "; name another folder, or add --force to render all frames again";
  std::error_code unknown;
  if (!fs::is_regular_file(fs::symlink_status(folder_ / description, unknown))) {
    fail(folder_, fmt::format("it has {}, but no {} that describes their film{}", counted(std::ssize(kept_), "frame"),
                              description, cure));
  }
  const Json before = read_json((folder_ / description).string());
  for (const auto& [key, value] : run.items()) {
    const Json old = before.is_object() ? before.value(key, Json{}) : Json{};
    if (old == value) continue;
    fail(folder_,
         fmt::format("it has {} of another film: {} was {}, and is {} now{}", counted(std::ssize(kept_), "frame"), key,
                     json_text(old).substr(0, 200), json_text(value), cure));
  }
}

int FrameFolder::threads() const {
  const double pixels = static_cast<double>(size_.width) * size_.height;
  return std::clamp(static_cast<int>(most_bytes / (bytes_per_pixel * pixels)), 1, std::max(1, usable_threads()));
}

/// Writes a frame's file. Replaces a damaged frame or a link of that name.
void FrameFolder::add(const FilmFrame& frame) {
  const render::Image image = render::upright_image(frame.rgba, size_.width, size_.height);
  write_file(file_of(frame.number), render::encode_png(image, words_of(frame.number), render::Compression::fast),
             Existing::replace_here);
}

}  // namespace orrery
