#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::cuda {

/// NVIDIA's compiler of CUDA C++ as a library. It is part of the toolkit, needs no GPU, and is loaded at run time, so
/// that only compiling needs the toolkit. Any thread may use it; one compiles at a time. A compilation cannot be ended
/// early. While it runs, it replaces the process's handlers of SIGINT and SIGTERM.
class Nvrtc {
 public:
  /// A file that the source may include by this name.
  struct Header {
    std::string_view name, text;
  };
  struct Program {
    std::string source;
    std::vector<Header> headers;
    std::vector<std::string> options;
    std::string function;  ///< expression that names the program's __global__ function
  };
  struct Result {
    bool compiled = false;
    std::string log;     ///< messages of the compiler and of ptxas; there may be some without an error
    std::string binary;  ///< machine code, as cudaLibraryLoadData() takes it
    std::string symbol;  ///< name of the function in the machine code
  };

  /// Loads the first of these libraries that is usable. Does not throw if none is: see reason().
  explicit Nvrtc(std::span<const char* const> libraries);
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// Returns why the library could not be loaded, in one line; empty if it was loaded.
  const std::string& reason() const { return reason_; }
  /// Compiles a program. Errors in its source are in Result::log. Throws std::runtime_error if the library is missing
  /// or fails.
  Result compile(const Program& program) const;

 private:
  struct Functions;
  std::unique_ptr<const Functions> functions_;  // null: no library
  std::string reason_;
};

/// Returns the NVRTC library of this machine, loaded at the first call.
const Nvrtc& nvrtc();

}  // namespace orrery::cuda
