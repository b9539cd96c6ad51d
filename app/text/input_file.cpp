#include "app/text/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/core/descriptor.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::filesystem::path full_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::filesystem::path path{value ? value : ""};
  return path.is_absolute() ? path : std::filesystem::path{};
}

}  // namespace

std::filesystem::path user_folder(const char* variable, const char* in_home) {
  std::filesystem::path folder = full_path_in(variable);
  if (!folder.empty()) return folder;
  folder = full_path_in("HOME");
  return folder.empty() ? folder : folder / in_home;
}

std::filesystem::path usual_state_folder() {
  const std::filesystem::path folder = user_folder("XDG_STATE_HOME", ".local/state");
  return folder.empty() ? folder : folder / "orrery";
}

namespace {

constexpr std::size_t most_bytes = 64'000'000;
constexpr std::size_t most_levels = 64;
constexpr int most_values = 1'000'000;
constexpr int most_members = 1000;  // limited, as each look-up in an object is linear
constexpr std::size_t most_text_bytes = 65'536;

[[noreturn]] void fail(const std::string& file, const std::string& cause) {
  throw std::runtime_error(fmt::format("'{}': {}", file, cause));
}

[[noreturn]] void fail_with(const std::string& file, int error) {
  fail(file, std::generic_category().message(error));
}

class OpenFile {
 public:
  /// Opens the file. Does not wait for the other end of a pipe.
  explicit OpenFile(const std::string& file)
      : file_{file}, descriptor_{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)} {
    if (!descriptor_) fail_with(file_, errno);
  }

  struct stat status() const {
    struct stat status {};
    if (fstat(descriptor_.number(), &status) != 0) fail_with(file_, errno);
    return status;
  }

  /// Reads up to `size` bytes. Returns the number read; 0 at the end.
  std::size_t read(char* to, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_.number(), to, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail_with(file_, errno);
    }
  }

 private:
  const std::string& file_;
  const Descriptor descriptor_;
};

/// Checks the limits of JSON text without storing values, so that refused text needs no memory.
class JsonCheck final : public nlohmann::json_sax<Json> {
 public:
  explicit JsonCheck(std::string_view text) : text_{text} {}

  /// Returns why the text was refused.
  const std::string& cause() const { return cause_; }

  bool null() override { return add_value(); }
  bool boolean(bool) override { return add_value(); }
  bool number_integer(number_integer_t) override { return add_value(); }
  bool number_unsigned(number_unsigned_t) override { return add_value(); }
  bool number_float(number_float_t, const string_t&) override { return add_value(); }
  bool string(string_t& text) override { return add_text(text); }
  bool binary(binary_t&) override { return add_value(); }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& text) override {
    if (++members_.back() > most_members) return refuse(fmt::format("an object has over {} members", most_members));
    return add_text(text);
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    const std::string_view read = text_.substr(0, std::min(position, text_.size()));
    return refuse(fmt::format("it is not JSON, see line {}", 1 + std::ranges::count(read, '\n')));
  }

 private:
  bool add_value() {
    return ++values_ <= most_values || refuse(fmt::format("it has over {} values and keys", most_values));
  }
  bool add_text(const std::string& text) {
    if (text.size() > most_text_bytes) return refuse(fmt::format("a text has over {} bytes", most_text_bytes));
    if (text.find('\0') != std::string::npos) return refuse("a text has the character 0, at which names end");
    return add_value();
  }
  bool enter() {
    members_.push_back(0);
    if (members_.size() > most_levels) return refuse(fmt::format("its JSON is over {} levels deep", most_levels));
    return add_value();
  }
  bool leave() {
    members_.pop_back();
    return true;
  }
  bool refuse(std::string cause) {
    cause_ = std::move(cause);
    return false;
  }

  std::string_view text_;
  std::vector<int> members_;  // members of each open array (0) and object, the outermost first
  int values_ = 0;
  std::string cause_;
};

}  // namespace

std::string read_text(const std::string& file) {
  const OpenFile input{file};
  const struct stat status = input.status();
  if (S_ISDIR(status.st_mode)) fail(file, "it is a folder");
  if (!S_ISREG(status.st_mode)) fail(file, "it is not a regular file");
  // The size is only a hint: files of /proc report 0, and other files may grow while they are read.
  std::string text(std::min(static_cast<std::size_t>(status.st_size), most_bytes) + 1, '\0');
  std::size_t size = 0;
  while (const std::size_t got = input.read(text.data() + size, text.size() - size)) {
    size += got;
    if (size > most_bytes) fail(file, fmt::format("it has more than {} MB", most_bytes / 1'000'000));
    if (size == text.size()) text.resize(std::min(2 * size, most_bytes + 1));
  }
  text.resize(size);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

std::optional<Json> checked_json(std::string_view text, std::string& cause) {
  JsonCheck check{text};
  if (Json::sax_parse(text, &check)) return Json::parse(text);
  cause = check.cause();
  return std::nullopt;
}

Json parse_json(std::string_view text, const std::string& file) {
  std::string cause;
  std::optional<Json> json = checked_json(text, cause);
  if (!json) fail(file, cause);
  return *std::move(json);
}

Json read_json(const std::string& file) {
  return parse_json(read_text(file), file);
}

std::optional<int> json_count(const Json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<int>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<int>(value.get<std::int64_t>());
  const int count = fits ? value.get<int>() : 0;
  return count >= 1 ? std::optional{count} : std::nullopt;
}

}  // namespace orrery
