#pragma once

#include "tests/app/support/test.h"

namespace orrery::test {

/// A program in PATH before any other, that does what a test wants.
class FakeProgram {
 public:
  explicit FakeProgram(std::string name) : name_{std::move(name)} {}

  void does(const std::string& shell_commands) const {
    const std::filesystem::path file = folder_.write(name_, "#!/bin/sh\n" + shell_commands + '\n');
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  const std::string name_;
  const TemporaryFolder folder_;
  const Variable path_{"PATH", (folder_.path().string() + ':' + std::getenv("PATH")).c_str()};
};

}  // namespace orrery::test
