#include "compute/cuda/nvrtc.h"

#include <dlfcn.h>

#include <array>
#include <stdexcept>

#include "compute/core/error.h"
#include "compute/cuda/library_functions.h"

#if ORRERY_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace orrery::cuda {

struct NvrtcProgram;  // target of NVRTC's nvrtcProgram

namespace {

// NVRTC's nvrtcResult and its values.
using NvrtcReturn = int;
constexpr NvrtcReturn nvrtc_success = 0, compilation_failed = 6;

}  // namespace

struct Nvrtc::Functions {
  /// Finds all functions. Throws std::runtime_error that names what is missing. `library` is never closed: another
  /// thread may compile while the process ends.
  explicit Functions(void* library) {
    const LibraryFunctions functions{library, "NVRTC"};
    functions.find(error_text, "nvrtcGetErrorString");
    functions.find(create, "nvrtcCreateProgram");
    functions.find(destroy, "nvrtcDestroyProgram");
    functions.find(add_name, "nvrtcAddNameExpression");
    functions.find(compile, "nvrtcCompileProgram");
    functions.find(lowered_name, "nvrtcGetLoweredName");
    functions.find(log_size, "nvrtcGetProgramLogSize");
    functions.find(log, "nvrtcGetProgramLog");
    functions.find(binary_size, "nvrtcGetCUBINSize");
    functions.find(binary, "nvrtcGetCUBIN");
  }

  void check(NvrtcReturn code, const std::string& call) const {
    if (code != nvrtc_success) throw std::runtime_error(call + ": " + error_text(code));
  }

  const char* (*error_text)(NvrtcReturn);
  NvrtcReturn (*create)(NvrtcProgram**, const char* source, const char* name, int headers, const char* const* texts,
                        const char* const* names);
  NvrtcReturn (*destroy)(NvrtcProgram**);
  NvrtcReturn (*add_name)(NvrtcProgram*, const char* expression);
  NvrtcReturn (*compile)(NvrtcProgram*, int count, const char* const* options);
  NvrtcReturn (*lowered_name)(NvrtcProgram*, const char* expression, const char** name);
  NvrtcReturn (*log_size)(NvrtcProgram*, std::size_t* bytes);
  NvrtcReturn (*log)(NvrtcProgram*, char* text);
  NvrtcReturn (*binary_size)(NvrtcProgram*, std::size_t* bytes);
  NvrtcReturn (*binary)(NvrtcProgram*, char* bytes);
};

namespace {

#if ORRERY_HAVE_CUDA
constexpr bool built_with_12 = CUDART_VERSION < 13000;
#else
constexpr bool built_with_12 = false;
#endif

/// Owner of an NVRTC program.
template <class Functions>
class OpenProgram {
 public:
  OpenProgram(const Functions& functions, const Nvrtc::Program& program) : functions_{functions} {
    std::vector<std::string> copies;
    for (const Nvrtc::Header& header : program.headers) {
      copies.emplace_back(header.name);
      copies.emplace_back(header.text);
    }
    std::vector<const char*> names, texts;
    for (std::size_t i = 0; i < copies.size(); i += 2) {
      names.push_back(copies[i].c_str());
      texts.push_back(copies[i + 1].c_str());
    }
    functions_.check(functions_.create(&program_, program.source.c_str(), "orrery", static_cast<int>(names.size()),
                                       texts.data(), names.data()),
                     "nvrtcCreateProgram");
  }
  OpenProgram(const OpenProgram&) = delete;
  OpenProgram& operator=(const OpenProgram&) = delete;
  ~OpenProgram() { (void)functions_.destroy(&program_); }
  NvrtcProgram* get() const { return program_; }

  /// Returns the text that `get` writes, of the length that `size` returns.
  template <class Size, class Get>
  std::string bytes(Size size, Get get, const char* call) const {
    std::size_t count = 0;
    functions_.check(size(program_, &count), call);
    std::string result(count, '\0');
    if (count > 0) functions_.check(get(program_, result.data()), call);
    return result;
  }

 private:
  const Functions& functions_;
  NvrtcProgram* program_ = nullptr;
};

}  // namespace

Nvrtc::Nvrtc(std::span<const char* const> libraries) {
  for (const char* const name : libraries) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    try {
      functions_ = std::make_unique<const Functions>(library);
      return;
    } catch (const std::runtime_error& error) {
      reason_ = failure_text(error);
    }
  }
  if (reason_.empty()) {
    reason_ = "no NVRTC, which compiles kernels at run time: install the CUDA toolkit, or its package cuda-nvrtc";
  }
}

Nvrtc::~Nvrtc() = default;

Nvrtc::Result Nvrtc::compile(const Program& program) const {
  if (!functions_) throw std::runtime_error(reason_);
  const Functions& nvrtc = *functions_;
  const OpenProgram<Functions> open{nvrtc, program};
  nvrtc.check(nvrtc.add_name(open.get(), program.function.c_str()), "nvrtcAddNameExpression");
  std::vector<const char*> options;
  for (const std::string& option : program.options) options.push_back(option.c_str());
  const NvrtcReturn code = nvrtc.compile(open.get(), static_cast<int>(options.size()), options.data());
  Result result{.compiled = code == nvrtc_success,
                .log = open.bytes(nvrtc.log_size, nvrtc.log, "nvrtcGetProgramLog"),
                .binary = {},
                .symbol = {}};
  if (!result.log.empty()) result.log.pop_back();  // the terminating zero
  if (code != nvrtc_success && code != compilation_failed) {
    const std::string why = result.log.substr(0, result.log.find('\n'));
    nvrtc.check(code, why.empty() ? "nvrtcCompileProgram" : "nvrtcCompileProgram: " + why);
  }
  if (!result.compiled) return result;
  const char* symbol = nullptr;
  nvrtc.check(nvrtc.lowered_name(open.get(), program.function.c_str(), &symbol), "nvrtcGetLoweredName");
  result.symbol = symbol;
  result.binary = open.bytes(nvrtc.binary_size, nvrtc.binary, "nvrtcGetCUBIN");
  return result;
}

const Nvrtc& nvrtc() {
  // The library of the CUDA version with which this program was built comes first: a newer one may produce code that
  // the installed driver cannot run.
  static constexpr std::array libraries{built_with_12 ? "libnvrtc.so.12" : "libnvrtc.so.13",
                                        built_with_12 ? "libnvrtc.so.13" : "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
  static const Nvrtc& library = *new Nvrtc{libraries};  // is never destroyed, see Functions
  return library;
}

}  // namespace orrery::cuda
