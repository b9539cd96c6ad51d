#pragma once

#include <filesystem>

#include "app/features/film/film_output.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// A folder of PNG frames, frame-000000.png and so on. Each appears whole, so a run that was stopped can be continued:
/// whole frames of the same film are kept. The file film.json in the folder describes the film, and each frame names
/// it. Symbolic links in the folder are not followed.
class FrameFolder final : public FilmOutput {
 public:
  /// Makes the folder if it is missing. With Existing::replace, begin() removes its frames.
  FrameFolder(const FilmOptions& options, WindowSize size, Existing existing);

  /// Refuses a folder with frames of another film.
  void begin(const Json& run) override;
  int threads() const override;
  void add(const FilmFrame& frame) override;
  std::string finish() override { return folder_.string(); }

 private:
  std::filesystem::path file_of(std::int64_t frame) const;
  void find_frames();
  void drop_damaged();
  /// Description that a frame carries in its PNG file.
  std::string words_of(std::int64_t frame) const;
  void check_same(const Json& run) const;

  const std::filesystem::path folder_;
  const WindowSize size_;
  const Existing existing_;
  std::string film_;  // the fingerprint of its description, from begin() on
};

}  // namespace orrery
