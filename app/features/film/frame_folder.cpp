#include "app/features/film/frame_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "render/image.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "frame-", suffix = ".png";
constexpr const char* description = "film.json";
constexpr double most_bytes = 2e9;             // that frames take at once
constexpr double bytes_per_pixel = 4 + 3 + 3;  // of a frame, its picture, and the encoded picture at the most

std::string name_of(std::int64_t frame) {
  return fmt::format("{}{:06}{}", prefix, frame, suffix);
}

/// The number of the frame of this name; negative: it is no frame's.
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
  const std::string text = json_text(run, 2);  // a file's name need not be UTF-8
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

/// Frames that are not whole, of another size or of another film are rendered again.
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

/// Replaces what has the name: a damaged frame, or a link.
void FrameFolder::add(const FilmFrame& frame) {
  const render::Image image = render::upright_image(frame.rgba, size_.width, size_.height);
  write_file(file_of(frame.number), render::encode_png(image, words_of(frame.number), render::Compression::fast),
             Existing::replace_here);
}

}  // namespace orrery
