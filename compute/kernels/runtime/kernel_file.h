#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Returns whether this text is allowed as the id of a kernel file or as the name of a setting.
bool is_kernel_id(std::string_view text);

/// A message about a line of a kernel file.
struct FileMessage {
  int line = 1;  ///< number of the line, from 1
  bool is_error = true;
  std::string text;  ///< without line breaks
};

/// Error if a kernel file cannot be used. The text is "FILE(LINE): cause" of the first error.
class KernelFileError : public UsageError {
 public:
  /// `messages` must have at least one error.
  KernelFileError(const std::string& file, std::vector<FileMessage> messages);
  const std::string& file() const { return file_; }
  const std::vector<FileMessage>& messages() const { return messages_; }

 private:
  std::string file_;
  std::vector<FileMessage> messages_;
};

/// Error if the device cannot launch the file's function with the given values of its settings.
class KernelFitError final : public KernelFileError {
 public:
  using KernelFileError::KernelFileError;
};

/// A setting of a kernel file. In the source, it is a constant of the same name, with '_' in place of '-'.
struct FileTunable {
  static constexpr std::size_t most_values = 32;

  std::string name, notes;
  std::vector<std::string> values;  ///< whole numbers as text
  std::string initial;              ///< one of `values`
  int line = 1;

  std::string constant() const;
};

/// A kernel in one file of CUDA C++: a header of comment lines, and one __global__ function, see device_api.h.
struct KernelFile {
  static constexpr std::size_t most_bytes = 256 << 10, most_tunables = 8;

  std::string name;  ///< the file's name, for messages
  std::string id, title, notes;
  int id_line = 1;
  std::vector<FileTunable> tunables;
  int shared_per_thread = 0;  ///< dynamic shared memory per thread, in bytes
  int shared_line = 0;        ///< line of shared-per-thread; 0: the header has none
  Tolerance tolerance{.median = 5e-6, .max = 5e-3};
  std::string function;  ///< name of the __global__ function
  int function_line = 1;
  bool function_nested = false;  ///< true: in a namespace or a class
  std::string text;              ///< the whole file, without a byte order mark

  const FileTunable* tunable(std::string_view name) const;
  std::size_t dynamic_bytes(int block) const {
    return static_cast<std::size_t>(shared_per_thread) * static_cast<std::size_t>(block);
  }
};

/// Parameters that the __global__ function must have.
inline constexpr const char* kernel_file_parameters =
    "(Targets targets, Sources sources, PairLaw law, Epilogue epilogue)";

/// Throws KernelFileError if a file of this many bytes is too long.
void require_kernel_file_size(const std::string& name, std::size_t bytes);

/// Throws KernelFitError if a block of `block` threads needs more than `most` bytes of shared memory, the device's
/// maximum per block. `static_bytes`: size of the __shared__ arrays.
void require_shared_memory(const KernelFile& file, int block, std::size_t static_bytes, std::size_t most);

/// Returns the file: reads the header and finds the __global__ function. `name`: see KernelFile. Throws
/// KernelFileError.
KernelFile parse_kernel_file(std::string name, std::string text);

}  // namespace orrery
