#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "compute/core/temporary_folder.h"

namespace orrery::test {

/// Expects that the page is well-formed and needs no other file, as check_page.py finds.
inline void expect_page(const std::string& page) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "page.html").string();
  std::ofstream{file, std::ios::binary} << page;
  EXPECT_EQ(std::system((ORRERY_CHECK_PAGE " '" + file + "'").c_str()), 0) << page.substr(0, 2000);
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace orrery::test
