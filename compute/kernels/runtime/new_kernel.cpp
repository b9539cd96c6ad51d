#include "compute/kernels/runtime/new_kernel.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

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

/// Kernels that are not one function, as a kernel file must be, and why.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> not_one_function{{
    {"cuda-atomic", "its function adds to the sums of all bodies, which another pass finishes"},
    {"cuda-constant", "the host fills its constant memory in rounds, and launches it once for each"},
    {"cuda-fp16", "another pass packs its positions as half-precision numbers"},
    {"cuda-hostloop", "it copies the bodies to the host and back before its function runs"},
    {"cuda-hybrid", "it is two functions in two streams"},
    {"cuda-jerk", "it needs velocities, which a kernel file does not get"},
    {"cuda-symmetric", "its function adds to the sums of all bodies, which another pass finishes"},
    {"cuda-tensor", "other passes make its matrices and finish its sums"},
    {"cuda-tree", "many functions build its tree and walk it"},
    {"cuda-tree-lock", "many functions build its tree and walk it"},
}};

/// Returns the text between the marks `begins` and `ends` of an embedded source.
std::string_view device_code(std::string_view name) {
  const SourceFile* const source = find_source(name);
  const std::string_view text = source ? source->bytes : std::string_view{};
  const std::size_t begin = text.find(begins), end = text.find(ends, begin == std::string_view::npos ? 0 : begin);
  if (begin != std::string_view::npos && end != std::string_view::npos) {
    return text.substr(begin + begins.size(), end - begin - begins.size());
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

std::string why_no_start(std::string_view id) {
  const std::vector<std::string> starts = starting_points();
  const auto known = [&](const KernelSource& kernel) { return kernel.id == id; };
  if (std::ranges::find(starts, id) != starts.end() || std::ranges::none_of(kernel_sources(), known)) return {};
  const auto listed = std::ranges::find(not_one_function, id, &decltype(not_one_function)::value_type::first);
  const std::string_view why = id.starts_with("cpu-")             ? "it runs on the CPU, and a kernel file is CUDA"
                               : listed == not_one_function.end() ? "it is more than one function"
                                                                  : listed->second;
  return "no kernel file can start from " + std::string{id} + ": " + std::string{why} +
         "; choose one of: " + joined(starts);
}

std::string new_kernel_text(const std::string& id, std::string_view from) {
  const auto found = std::ranges::find(embedded_starting_points(), from, kernel_id_of);
  if (found == embedded_starting_points().end()) {
    if (const std::string why = why_no_start(from); !why.empty()) throw UsageError(why);
    const std::vector<std::string> known = starting_points();
    const std::vector<std::string_view> names{known.begin(), known.end()};
    throw unknown_name("starting point", from, names);
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
