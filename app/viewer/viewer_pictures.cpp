// Pictures of the window and of the bodies: a part of Viewer.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "app/panels/panels.h"
#include "app/viewer/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/failure_text.h"
#include "render/image.h"

namespace orrery {

/// After a frame has been drawn and before it is presented: the picture is what the user sees.
void Viewer::save_pictures() {
  for (const WantedPicture& wanted : std::exchange(pictures_wanted_, {})) {
    try {
      wanted.save();
    } catch (const std::exception& error) {
      if (!lockstep_) {
        complain(failure_text(error));
      } else if (wanted.script_line > 0) {
        throw std::runtime_error(
            fmt::format("{}:{}: {}", options_.script_file, wanted.script_line, failure_text(error)));
      } else {
        throw;
      }
    }
  }
}

void Viewer::save_picture(const std::string& asked, const std::function<render::Image()>& take) {
  const Output to = output(asked, "picture.png");
  const render::Image picture = rescue_.outside(take);
  say_written(write_file(to.file, render::encode_png(picture, description().dump(-1, ' ', true)), to.existing));
}

render::Image Viewer::picture_of_window(int times) {
  const render::Canvas canvas = surface_->canvas();
  if (canvas.width < 1 || canvas.height < 1)
    throw std::runtime_error("no picture can be saved: the window has no area");
  if (times == 1) return render::read_framebuffer(canvas.framebuffer, canvas.width, canvas.height);
  return drawn_picture(times * canvas.width, times * canvas.height, [&](const render::Canvas& enlarged) {
    draw_bodies(enlarged, covered_by_panels());
    PanelState panels = panel_state_;  // what the user does belongs to the window
    Requests none;
    gui_.draw_enlarged(static_cast<float>(times), enlarged, [&] { draw_panels(shown_, view_, panels, none); });
  });
}

render::Image Viewer::picture_of_bodies(int width, int height) {
  return drawn_picture(width, height, [this](const render::Canvas& canvas) { draw_bodies(canvas, {}); });
}

render::Image Viewer::drawn_picture(int width, int height, const std::function<void(const render::Canvas&)>& draw) {
  if (const int most = surface_->gl().max_side; width > most || height > most) {
    throw std::runtime_error(
        fmt::format("a picture of {}x{} cannot be drawn: here, {} pixels is the most for a side", width, height, most));
  }
  const render::RenderTarget target{GL_RGBA8, width, height};
  const auto stage = stage_;
  draw({target.framebuffer(), width, height, target.texture()});
  stage_ = stage;  // clicks are in the window
  return render::read_framebuffer(target.framebuffer(), width, height);
}

}  // namespace orrery
