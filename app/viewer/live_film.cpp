// Films: of a window as it was shown, and of `orrery render`.
#include "app/viewer/live_film.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "app/camera_path/camera_path.h"
#include "app/lab/metadata.h"
#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "app/viewer/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/checked_stream.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
constexpr double early = 0.25;  // frames that a picture may come before its own: windows are never quite regular

}  // namespace

LiveFilm::LiveFilm(const FilmOptions& options, WindowSize size, Existing existing, const Json& run)
    : file_{options.out},
      size_{size},
      interval_s_{1 / options.fps},
      film_{options, size, any_number, existing},
      reader_{size.width, size.height} {
  film_.begin(run);
}

bool LiveFilm::add(const render::Canvas& canvas, double now_s) {
  if (canvas.width != size_.width || canvas.height != size_.height) return false;
  if (!begin_s_) begin_s_ = now_s;
  const std::int64_t frame = frame_at(now_s);
  if (frame < next_) return true;
  show_last_until(frame);
  if (reader_.in_flight() == render::PixelReader::most) {
    if (!film_.has_free()) {
      ++left_out_;
      return true;
    }
    take_oldest();
  }
  reader_.begin(canvas.framebuffer);
  times_.push_back(1);
  next_ = frame + 1;
  return true;
}

std::int64_t LiveFilm::frame_at(double now_s) const {
  return static_cast<std::int64_t>((now_s - *begin_s_) / interval_s_ + early);
}

void LiveFilm::show_last_until(std::int64_t frame) {
  if (times_.empty() || frame <= next_) return;
  times_.back() += frame - next_;
  next_ = frame;
}

void LiveFilm::take_oldest() {
  FilmFrame frame = film_.take_free();
  reader_.take(frame.rgba);
  frame.number = pictures_++;
  frame.times = times_.front();
  times_.pop_front();
  film_.add(std::move(frame));
}

std::string LiveFilm::finish(double now_s) {
  if (begin_s_) show_last_until(frame_at(now_s));
  while (reader_.in_flight() > 0) take_oldest();
  const std::string written = film_.finish();
  if (left_out_ == 0) return written;
  return fmt::format("{}; {} left out, for which there was no time", written, format_count(left_out_));
}
namespace {

// Viewer: how it makes films.
/// The bodies and their properties: two files of one name may hold different systems.
std::string fingerprint_of(const Snapshot& snapshot) {
  std::uint32_t properties = 0;
  const auto add = [&](const auto& column) {
    properties =
        next_checksum(properties, reinterpret_cast<const std::byte*>(column.data()), column.size() * sizeof column[0]);
  };
  const BodyProperties& of = snapshot.properties;
  add(of.ids), add(of.species), add(of.softening), add(of.temperature), add(of.metals), add(of.formation_time);
  return fmt::format("{:08x}{:08x}", checksum(snapshot.bodies), properties);
}

}  // namespace

/// Everything that the frames of a film depend on.
Json Viewer::film_description() {
  const Json machine = machine_metadata(backends_);
  Json run = Json::object();
  run["version"] = machine["version"];
  run["gl_renderer"] = surface_->gl().renderer;
  add_simulation(run, lane_.status());
  run["bodies"] = fingerprint_of(lane_.simulation().snapshot());
  run["kernel"] = lane_.status().kernel_id;
  if (!options_.kernel_file.empty()) run["kernel_file"] = fingerprint(read_text(options_.kernel_file));
  run["settings"] = lane_.status().settings.to_string();
  run["steps_per_frame"] = lane_.status().steps_per_frame;
  const render::Canvas canvas = surface_->canvas();
  run["size"] = fmt::format("{}x{}", canvas.width, canvas.height);
  run["panel"] = options_.panel;
  run["legend"] = options_.legend;
  run["theme"] = word_of(view_.appearance.theme);
  run["fps"] = options_.film->fps;
  run["path"] = options_.path ? fingerprint(camera_path_text(options_.path->key_frames())) : "";
  run["script"] = options_.script_file.empty() ? "" : fingerprint(read_text(options_.script_file));
  return run;
}

void Viewer::begin_film() {
  if (!film_) return;
  const render::Canvas canvas = surface_->canvas();
  pixels_.emplace(canvas.width, canvas.height);
  film_->begin(film_description());
}

/// A frame that the film has already is not drawn, unless later frames depend on it.
bool Viewer::wants_picture() const {
  const bool remembered = view_.appearance.auto_exposure || view_.overlays.trails.of != TrailsOf::nobody;
  return !film_ || film_->wants(frame_) || !pictures_wanted_.empty() || remembered;
}

/// Nothing that is left to do changes an output.
bool Viewer::film_is_complete() const {
  return film_ && film_->complete_from(frame_) && script_at_ == options_.script.size() && options_.save_file.empty() &&
         !lane_.log().recording();
}

void Viewer::add_to_film() {
  if (!film_ || !film_->wants(frame_)) return;
  if (pixels_->in_flight() == render::PixelReader::most) take_pixels();
  rescue_.outside([this] { pixels_->begin(surface_->canvas().framebuffer); });
  filmed_.push_back(frame_);
}

/// Hands the oldest picture that is being copied to the film.
void Viewer::take_pixels() {
  FilmFrame frame = film_->take_free();
  rescue_.outside([&] { pixels_->take(frame.rgba); });
  frame.number = filmed_.front();
  filmed_.pop_front();
  film_->add(std::move(frame));
}

/// Needs no OpenGL, so that it may end a run that hangs.
void Viewer::finish_film() {
  if (!film_) return;
  const std::string written = film_->finish();
  if (!written.empty()) console::print("{}\n", written);
}

void Viewer::carry_out(const StartFilm& c) {
  if (film_) throw UsageError("orrery render makes a film already");
  if (live_film_) throw UsageError(fmt::format("a film is being made: {}; stop-film completes it", live_film_->file()));
  const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
  if (canvas.width < 1 || canvas.height < 1) throw std::runtime_error("cannot film: the window has no area");
  const Output to = output(c.file, "film.mp4");
  rescue_.outside([&] {
    live_film_.emplace(FilmOptions{.out = to.file}, WindowSize{canvas.width, canvas.height}, to.existing,
                       description());
  });
  view_.notice = "filming to " + printable(to.file);
}

void Viewer::carry_out(const StopFilm&) {
  if (!live_film_) return;
  std::string written;
  try {
    written = rescue_.outside([this] { return live_film_->finish(path_clock_s()); });
  } catch (...) {
    live_film_.reset();
    throw;
  }
  live_film_.reset();
  if (!written.empty()) {
    view_.notice = written;
    console::print("{}\n", written);
  }
}

/// A film has one size, so another size of the window ends it.
void Viewer::follow_live_film() {
  if (live_film_) {
    try {
      const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
      if (!rescue_.outside([&] { return live_film_->add(canvas, path_clock_s()); })) {
        carry_out(StopFilm{});
        view_.notice += ": the window has another size now";
      }
    } catch (const std::exception& error) {
      live_film_.reset();
      if (lockstep_) throw;
      failed_ = true;
      complain(failure_text(error));
    }
  }
  view_.film = live_film_ ? FilmStatus{true, live_film_->file(), live_film_->pictures()} : FilmStatus{};
}

}  // namespace orrery
