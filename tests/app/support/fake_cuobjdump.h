#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "compute/core/temporary_folder.h"

namespace orrery::test {

/// A program `cuobjdump`, in PATH before any other, that does what a test wants.
class FakeCuobjdump {
 public:
  FakeCuobjdump() { setenv("PATH", (folder_.path().string() + ':' + old_path_).c_str(), 1); }
  FakeCuobjdump(const FakeCuobjdump&) = delete;
  FakeCuobjdump& operator=(const FakeCuobjdump&) = delete;
  ~FakeCuobjdump() { setenv("PATH", old_path_.c_str(), 1); }

  void does(const std::string& shell_commands) const {
    const std::filesystem::path file = folder_ / "cuobjdump";
    std::ofstream{file} << "#!/bin/sh\n" << shell_commands << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  const std::string old_path_ = std::getenv("PATH");
  const TemporaryFolder folder_;
};

}  // namespace orrery::test
