#include "compute/kernels/runtime/kernel_sources.h"

#include <algorithm>

namespace orrery {

std::span<const SourceFile> embedded_device_headers();
std::span<const SourceFile> embedded_kernels();

std::span<const SourceFile> device_headers() {
  return embedded_device_headers();
}

std::span<const SourceFile> kernel_sources() {
  return embedded_kernels();
}

std::string kernel_id_of(const SourceFile& source) {
  std::string_view name = source.name.substr(source.name.rfind('/') + 1);
  name = name.substr(0, name.rfind('.'));
  std::string id{name};
  std::ranges::replace(id, '_', '-');
  return id;
}

const SourceFile* find_kernel_source(std::string_view id) {
  const auto found = std::ranges::find(kernel_sources(), id, kernel_id_of);
  return found == kernel_sources().end() ? nullptr : &*found;
}

}  // namespace orrery
