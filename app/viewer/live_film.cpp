#include "app/viewer/live_film.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "compute/core/format_count.h"

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

}  // namespace orrery
