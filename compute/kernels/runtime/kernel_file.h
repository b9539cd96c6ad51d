#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Whether a kernel file may have this id, and its tunables such names.
bool is_kernel_id(std::string_view text);

/// A message about a line of a kernel file.
struct FileMessage {
  int line = 1;  ///< from 1
  bool is_error = true;
  std::string text;  ///< one line
};

/// A kernel file that cannot be used: "FILE(LINE): cause" of its first error.
class KernelFileError : public UsageError {
 public:
  /// `messages` has at least one error.
  KernelFileError(const std::string& file, std::vector<FileMessage> messages);
  const std::vector<FileMessage>& messages() const { return messages_; }

 private:
  std::vector<FileMessage> messages_;
};

/// A tunable of a kernel file: in the source, a constant of the same name, with '_' for '-'.
struct FileTunable {
  static constexpr std::size_t most_values = 32;

  std::string name, notes;
  std::vector<std::string> values;  ///< whole numbers
  std::string initial;              ///< one of `values`
  int line = 1;

  std::string constant() const;
};

/// A kernel in one file of CUDA C++: a header of comment lines, and one __global__ function, see device_api.h.
struct KernelFile {
  static constexpr std::size_t most_bytes = 256 << 10, most_tunables = 8;

  std::string name;  ///< of the file, for messages
  std::string id, title, notes;
  int id_line = 1;
  std::vector<FileTunable> tunables;
  int shared_per_thread = 0;  ///< bytes of dynamic shared memory
  Tolerance tolerance{.median = 5e-6, .max = 5e-3};
  std::string function;  ///< the name of the __global__ function
  int function_line = 1;
  bool function_nested = false;  ///< in a namespace or a class
  std::string text;              ///< the whole file, without a byte order mark

  const FileTunable* tunable(std::string_view name) const;
};

/// What the parameters of the function must be.
inline constexpr const char* kernel_file_parameters =
    "(Targets targets, Sources sources, PairLaw law, Epilogue epilogue)";

/// Reads the header and finds the function. `name` is for messages. Throws KernelFileError.
KernelFile parse_kernel_file(std::string name, std::string text);

}  // namespace orrery
