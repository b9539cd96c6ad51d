#include "compute/kernels/runtime/new_kernel.h"

#include <algorithm>
#include <stdexcept>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_sources.h"

namespace orrery {

std::span<const SourceFile> embedded_starting_points();

namespace {

constexpr std::string_view shortest = "tiled";
constexpr std::string_view before_file = "// The code of ", after_file = " stands here.\n";
constexpr std::string_view begins = "// A new kernel can start from here (orrery new-kernel):\n",
                           ends = "// to here.\n";

/// The part between the two marks of a source of this program.
std::string_view device_code(std::string_view name) {
  for (const auto& sources : {kernel_sources(), device_headers()}) {
    const auto source = std::ranges::find(sources, name, &SourceFile::name);
    if (source == sources.end()) continue;
    const std::size_t begin = source->bytes.find(begins), end = source->bytes.find(ends);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    return source->bytes.substr(begin + begins.size(), end - begin - begins.size());
  }
  throw std::logic_error("no marks in " + std::string{name} + " say where a new kernel starts");
}

void replace_value(std::string& text, std::string_view key, std::string_view value) {
  const std::size_t begin = text.find(key) + key.size();
  text.replace(begin, text.find('\n', begin) - begin, value);
}

}  // namespace

std::vector<std::string> starting_points() {
  std::vector<std::string> ids{std::string{shortest}};
  for (const SourceFile& file : embedded_starting_points()) {
    if (kernel_id_of(file) != shortest) ids.push_back(kernel_id_of(file));
  }
  return ids;
}

std::string new_kernel_text(const std::string& id, std::string_view from) {
  const auto found = std::ranges::find(embedded_starting_points(), from, kernel_id_of);
  if (found == embedded_starting_points().end()) {
    const std::vector<std::string> known = starting_points();
    const std::vector<std::string_view> names{known.begin(), known.end()};
    throw unknown_name("starting point", from, names, " (no other kernel is one function that stands alone)");
  }
  std::string text{found->bytes};
  replace_value(text, "// id: ", id);
  replace_value(text, "// title: ", id);
  if (const std::size_t at = text.find(before_file); at != std::string::npos) {
    const std::size_t name = at + before_file.size(), end = text.find(after_file, name);
    text.replace(at, end + after_file.size() - at, device_code(text.substr(name, end - name)));
  }
  return text;
}

KernelFile new_kernel_file(const KernelCatalog& kernels, const std::string& id, std::string_view from) {
  if (!is_kernel_id(id)) {
    throw UsageError("a kernel cannot be named '" + id +
                     "'; a name is at most 64 lower-case letters, digits and '-', and begins with a letter");
  }
  KernelFile file = parse_kernel_file(id + ".cu", new_kernel_text(id, from));
  require_free_id(kernels, file);
  return file;
}

}  // namespace orrery
