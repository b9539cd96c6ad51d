// Films: of a window as it was shown, and of `orrery render`.
#include "app/window/live_film.h"

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
#include "app/ui_state/film_commands.h"
#include "app/window/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
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
Json FilmFeature::film_description() {
  const Json machine = machine_metadata(session_.backends);
  Json run = Json::object();
  run["version"] = machine["version"];
  run["gl_renderer"] = session_.surface->gl().renderer;
  add_simulation(run, session_.lane.status());
  run["bodies"] = fingerprint_of(session_.lane.simulation().snapshot());
  run["kernel"] = session_.lane.status().kernel_id;
  if (!session_.options.kernel_file.empty()) run["kernel_file"] = fingerprint(read_text(session_.options.kernel_file));
  run["settings"] = session_.lane.status().settings.to_string();
  run["steps_per_frame"] = session_.lane.status().steps_per_frame;
  const render::Canvas canvas = session_.surface->canvas();
  run["size"] = fmt::format("{}x{}", canvas.width, canvas.height);
  run["panel"] = session_.options.panel;
  run["legend"] = session_.options.legend;
  run["theme"] = word_of(session_.view.appearance.theme);
  run["fps"] = session_.options.film->fps;
  run["path"] = session_.options.path ? fingerprint(camera_path_text(session_.options.path->key_frames())) : "";
  run["script"] = session_.options.script_file.empty() ? "" : fingerprint(read_text(session_.options.script_file));
  return run;
}

void FilmFeature::begin() {
  if (!session_.film) return;
  const render::Canvas canvas = session_.surface->canvas();
  pixels_.emplace(canvas.width, canvas.height);
  session_.film->begin(film_description());
}

void FilmFeature::add_frame() {
  if (!session_.film || !session_.film->wants(session_.frame)) return;
  if (pixels_->in_flight() == render::PixelReader::most) take_pixels();
  session_.rescue.outside([this] { pixels_->begin(session_.surface->canvas().framebuffer); });
  filmed_.push_back(session_.frame);
}

/// Hands the oldest picture that is being copied to the film.
void FilmFeature::take_pixels() {
  FilmFrame frame = session_.film->take_free();
  session_.rescue.outside([&] { pixels_->take(frame.rgba); });
  frame.number = filmed_.front();
  filmed_.pop_front();
  session_.film->add(std::move(frame));
}

/// Needs no OpenGL, so that it may end a run that hangs.
void FilmFeature::finish() {
  if (!session_.film) return;
  const std::string written = session_.film->finish();
  if (!written.empty()) console::print("{}\n", written);
}

void FilmFeature::carry_out(const StartFilm& c) {
  if (session_.film) throw UsageError("orrery render makes a film already");
  if (live_film_) throw UsageError(fmt::format("a film is being made: {}; stop-film completes it", live_film_->file()));
  const render::Canvas canvas = session_.canvas();
  if (canvas.width < 1 || canvas.height < 1) throw std::runtime_error("cannot film: the window has no area");
  const Session::Output to = session_.output(c.file, "film.mp4");
  session_.rescue.outside([&] {
    live_film_.emplace(FilmOptions{.out = to.file}, WindowSize{canvas.width, canvas.height}, to.existing, describe_());
  });
  session_.view.notice = "filming to " + printable(to.file);
}

void FilmFeature::carry_out(const StopFilm&) {
  if (!live_film_) return;
  std::string written;
  try {
    written = session_.rescue.outside([this] { return live_film_->finish(session_.clock_s()); });
  } catch (...) {
    live_film_.reset();
    throw;
  }
  live_film_.reset();
  if (!written.empty()) {
    session_.view.notice = written;
    console::print("{}\n", written);
  }
}

/// A film has one size, so another size of the window ends it.
void FilmFeature::follow() {
  if (live_film_) {
    try {
      const render::Canvas canvas = session_.canvas();
      if (!session_.rescue.outside([&] { return live_film_->add(canvas, session_.clock_s()); })) {
        carry_out(StopFilm{});
        session_.view.notice += ": the window has another size now";
      }
    } catch (const std::exception& error) {
      live_film_.reset();
      if (session_.lockstep) throw;
      session_.failed = true;
      session_.complain(failure_text(error));
    }
  }
  session_.view.film = live_film_ ? FilmStatus{true, live_film_->file(), live_film_->pictures()} : FilmStatus{};
}

void FilmFeature::take_rest() {
  while (!filmed_.empty()) take_pixels();
}

}  // namespace orrery
