#include "app/viewer/live_film.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "compute/core/format_count.h"

namespace orrery {
namespace {

constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();

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
  if (now_s + 0.01 * interval_s_ < due_s_) return true;
  const bool late = now_s - due_s_ > interval_s_;  // then the film plays faster from here on
  due_s_ = (late ? now_s : due_s_) + interval_s_;
  if (reader_.in_flight() == render::PixelReader::most) {
    if (!film_.has_free()) {
      ++left_out_;
      return true;
    }
    take_oldest();
  }
  reader_.begin(canvas.framebuffer);
  return true;
}

void LiveFilm::take_oldest() {
  FilmFrame frame = film_.take_free();
  reader_.take(frame.rgba);
  frame.number = pictures_++;
  film_.add(std::move(frame));
}

std::string LiveFilm::finish() {
  while (reader_.in_flight() > 0) take_oldest();
  const std::string written = film_.finish();
  if (left_out_ == 0) return written;
  return fmt::format("{}; {} left out, for which there was no time", written, format_count(left_out_));
}

}  // namespace orrery
