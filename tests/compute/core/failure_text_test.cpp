// What people read of an exception, whoever throws it.
#include <gtest/gtest.h>

#include <any>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "compute/core/error.h"

namespace orrery {
namespace {

struct Injected {
  std::function<void()> fail;
  std::string text;  ///< expected
};

std::string text_of(const std::function<void()>& fail, bool& of_library) {
  try {
    fail();
  } catch (const std::exception& failure) {
    of_library = is_of_library(failure);
    return failure_text(failure);
  }
  return "nothing was thrown";
}

TEST(FailureText, IsThatOfThisProgramsExceptions) {
  const std::vector<Injected> own{{[] { throw std::runtime_error("'a': no such file"); }, "'a': no such file"},
                                  {[] { throw UsageError("unknown scene 'x'"); }, "unknown scene 'x'"},
                                  {[] { throw std::bad_alloc(); }, "not enough memory"}};
  for (const auto& [fail, text] : own) {
    bool of_library = true;
    EXPECT_EQ(text_of(fail, of_library), text);
    EXPECT_FALSE(of_library) << text;
  }
}

TEST(FailureText, IsTheCauseAndTheFileOfALibrarysExceptions) {
  namespace fs = std::filesystem;
  const std::string name = std::string(300, 'a'), unexpected = "a case that the program does not expect (";
  const std::vector<Injected> of_libraries{
      {[&] { (void)fs::exists(name); }, "'" + name + "': File name too long"},
      {[] { fs::rename("/nowhere/a", "/nowhere/b"); }, "'/nowhere/a' to '/nowhere/b': No such file or directory"},
      {[] { throw fs::filesystem_error("cannot", std::make_error_code(std::errc::no_space_on_device)); },
       "No space left on device"},
      {[] { throw std::system_error(EMFILE, std::generic_category(), "pipe"); }, "Too many open files"},
      {[] { (void)std::vector<int>{}.at(3); }, unexpected + "std::out_of_range)"},
      {[] { (void)std::stoi("x"); }, unexpected + "std::invalid_argument)"},
      {[] { (void)std::optional<int>{}.value(); }, unexpected + "std::bad_optional_access)"},
      {[] { (void)std::get<1>(std::variant<int, float>{}); }, unexpected + "std::bad_variant_access)"},
      {[] { (void)std::any_cast<int>(std::any{1.0}); }, unexpected + "std::bad_any_cast)"},
      {[] { throw std::overflow_error("x"); }, unexpected + "std::overflow_error)"},
      {[] { std::regex{"("}; }, unexpected + "std::"},
      {[] { throw std::length_error("vector::_M_default_append"); }, unexpected + "std::length_error)"},
      {[] { (void)std::future<int>{}.get(); }, unexpected + "std::future_error)"}};
  for (const auto& [fail, text] : of_libraries) {
    bool of_library = false;
    const std::string said = text_of(fail, of_library);
    EXPECT_EQ(said.substr(0, text.size()), text);
    EXPECT_TRUE(of_library) << said;
    for (const char* raw : {"filesystem error", "vector::", "stoi", "bad optional access", "[json"}) {
      EXPECT_EQ(said.find(raw), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace orrery
