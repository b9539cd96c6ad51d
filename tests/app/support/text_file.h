#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace orrery::test {

inline std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace orrery::test
