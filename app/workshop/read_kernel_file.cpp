#include "app/workshop/read_kernel_file.h"

#include "app/text/input_file.h"

namespace orrery {

KernelFile read_kernel_file(const std::string& path) {
  return parse_kernel_file(path, read_text(path));
}

}  // namespace orrery
