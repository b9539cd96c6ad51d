#include "app/ui_state/camera_path.h"
#include "tests/fuzz/input.h"

int fuzz_path(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] {
    const orrery::CameraPath path = orrery::read_camera_path(file.path());
    (void)path.at(0.5 * path.end_s());
    (void)orrery::parse_camera_path(orrery::camera_path_text(path.key_frames()), "again");
  });
}
