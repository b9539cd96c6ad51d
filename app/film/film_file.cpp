#include "app/film/film_file.h"

namespace orrery {

FilmFile::FilmFile(const FilmOptions& options, WindowSize size, Existing existing)
    : file_{options.out, existing}, encoder_{size.width, size.height, options.fps, file_.descriptor(), options.out} {}

std::string FilmFile::finish() {
  encoder_.finish();
  return file_.commit().string();
}

}  // namespace orrery
