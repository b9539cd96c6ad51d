// Films in the window: of its picture as shown, and of `orrery render`.
#include "app/features/film/film_window.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/metadata.h"
#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/window_commands.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
constexpr double early = 0.25;  // fraction of a frame by which a picture may be early: windows draw at uneven times

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

/// Returns a fingerprint of the bodies and their properties. Two files of one name may hold different systems.
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

/// Films in the window: the user's film of the shown picture, and the film of `orrery render`.
class FilmWindow final : public WindowFeature {
 public:
  explicit FilmWindow(Session& session) : session_{session} {
    const ViewOptions& options = session.options;
    if (!options.film) return;
    film_.emplace(*options.film, options.size.value_or(WindowSize{}), options.frames.value(), options.existing);
  }

  void add_to(Handlers& handlers) override { handlers.add(*this, film_commands); }

  void carry_out(const StartFilm& c) {
    if (film_) throw UsageError("orrery render makes a film already");
    if (live_) throw UsageError(fmt::format("a film is being made: {}; stop-film completes it", live_->file()));
    const render::Canvas canvas = session_.canvas();
    if (canvas.width < 1 || canvas.height < 1) throw std::runtime_error("cannot film: the window has no area");
    const Session::Output to = session_.output(c.file, "film.mp4");
    session_.rescue.outside([&] {
      live_.emplace(FilmOptions{.out = to.file}, WindowSize{canvas.width, canvas.height}, to.existing,
                    session_.description());
    });
    describe();
    session_.view.notice = "filming to " + printable(to.file);
  }

  void carry_out(const StopFilm&) {
    if (!live_) return;
    std::string written;
    try {
      written = session_.rescue.outside([this] { return live_->finish(session_.clock_s()); });
    } catch (...) {
      live_.reset();
      throw;
    }
    live_.reset();
    if (written.empty()) return;
    session_.view.notice = written;
    console::print("{}\n", written);
  }

  void begin() override {
    if (!film_) return;
    const render::Canvas canvas = session_.surface->canvas();
    pixels_.emplace(canvas.width, canvas.height);
    film_->begin(film_description());
  }

  bool does_without(std::int64_t frame) const override { return film_ && !film_->wants(frame); }

  bool is_complete_from(std::int64_t frame) const override { return film_ && film_->complete_from(frame); }

  bool holds_steps() const override { return live_.has_value(); }

  void end_frame(bool drawn) override {
    if (drawn) add_frame();
    if (drawn && live_) add_to_live();
    describe();
    if (film_) film_->show_progress(session_.frame, film_->wants(session_.frame));
  }

  /// Adds the pictures that are still being copied, and completes the user's film.
  void finish_drawing() override {
    while (!filmed_.empty()) take_pixels();
    carry_out(StopFilm{});
  }

  void finish() override {
    if (!film_) return;
    const std::string written = film_->finish();
    if (!written.empty()) console::print("{}\n", written);
  }

  void add_losses(std::vector<std::string>& lines) const override {
    if (live_) lines.push_back(fmt::format("The film {} ends.", live_->file()));
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    if (live_)
      things.push_back(fmt::format("{}the film {}", session_.ends_at_once ? "" : "the rest of ", live_->file()));
  }

 private:
  /// Returns everything that the frames of a film depend on.
  Json film_description() {
    const ViewOptions& options = session_.options;
    const Status& status = session_.lane.status();
    const Json machine = machine_metadata(session_.backends);
    Json run = Json::object();
    run["version"] = machine["version"];
    run["gl_renderer"] = session_.surface->gl().renderer;
    add_simulation(run, status);
    run["bodies"] = fingerprint_of(session_.lane.simulation().snapshot());
    run["kernel"] = status.kernel_id;
    if (!options.kernel_file.empty()) run["kernel_file"] = fingerprint(read_text(options.kernel_file));
    run["settings"] = status.settings.to_string();
    run["steps_per_frame"] = status.steps_per_frame;
    const render::Canvas canvas = session_.surface->canvas();
    run["size"] = fmt::format("{}x{}", canvas.width, canvas.height);
    run["panel"] = options.panel;
    run["legend"] = options.legend;
    run["theme"] = word_of(session_.view.appearance.theme);
    run["fps"] = options.film->fps;
    run["path"] = options.path ? fingerprint(camera_path_text(options.path->key_frames())) : "";
    run["script"] = options.script_file.empty() ? "" : fingerprint(read_text(options.script_file));
    return run;
  }

  void add_frame() {
    if (!film_ || !film_->wants(session_.frame)) return;
    if (pixels_->in_flight() == render::PixelReader::most) take_pixels();
    session_.rescue.outside([this] { pixels_->begin(session_.surface->canvas().framebuffer); });
    filmed_.push_back(session_.frame);
  }

  /// Adds the oldest picture that is being copied to the film of `orrery render`.
  void take_pixels() {
    FilmFrame frame = film_->take_free();
    session_.rescue.outside([&] { pixels_->take(frame.rgba); });
    frame.number = filmed_.front();
    filmed_.pop_front();
    film_->add(std::move(frame));
  }

  /// Adds the picture to the user's film. A film has one size, so a new size of the window ends it.
  void add_to_live() {
    try {
      const render::Canvas canvas = session_.canvas();
      if (session_.rescue.outside([&] { return live_->add(canvas, session_.clock_s()); })) return;
      carry_out(StopFilm{});
      session_.view.notice += ": the window has another size now";
    } catch (const std::exception& error) {
      live_.reset();
      if (session_.lockstep) throw;
      session_.failed = true;
      session_.complain(failure_text(error));
    }
  }

  void describe() {
    session_.view.features.of<FilmStatus>() = live_ ? FilmStatus{true, live_->file(), live_->pictures()} : FilmStatus{};
  }

  Session& session_;
  std::optional<Film> film_;  // film of `orrery render`
  std::optional<render::PixelReader> pixels_;
  std::deque<std::int64_t> filmed_;  // numbers of the frames whose pictures are being copied
  std::optional<LiveFilm> live_;     // film of the user
};

}  // namespace

std::unique_ptr<WindowFeature> make_film(Session& session) {
  return std::make_unique<FilmWindow>(session);
}

}  // namespace orrery
