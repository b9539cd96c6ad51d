#pragma once

#include "app/film/encoder.h"
#include "app/film/film_output.h"
#include "app/ui_state/film_options.h"
#include "app/ui_state/window_size.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// An MP4 file. It appears whole, at the end.
class FilmFile final : public FilmOutput {
 public:
  FilmFile(const FilmOptions& options, WindowSize size, Existing existing);

  void begin(const Json&) override {}
  int threads() const override { return 1; }
  void add(const FilmFrame& frame) override { encoder_.write(frame.rgba, frame.times); }
  std::string finish() override;

 private:
  AtomicFile file_;
  Encoder encoder_;
};

}  // namespace orrery
