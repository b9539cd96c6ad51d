// A library to preload into a program: its OpenGL reports a reset from the call of glGetGraphicsResetStatus on whose
// number ORRERY_GL_RESET gives, from 1.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace {

using Function = void (*)();
using Find = Function (*)(const char*);

constexpr unsigned no_error = 0, unknown_context_reset = 0x8255;

unsigned reset_status() {
  static std::atomic<int> calls = 0;
  const char* const number = std::getenv("ORRERY_GL_RESET");
  return number && ++calls >= std::atoi(number) ? unknown_context_reset : no_error;
}

Function find(const char* finder, const char* name) {
  if (std::string_view{name} == "glGetGraphicsResetStatus") return reinterpret_cast<Function>(reset_status);
  const auto next = reinterpret_cast<Find>(dlsym(RTLD_NEXT, finder));
  return next ? next(name) : nullptr;
}

}  // namespace

extern "C" {
Function eglGetProcAddress(const char* name) {
  return find("eglGetProcAddress", name);
}
Function glfwGetProcAddress(const char* name) {
  return find("glfwGetProcAddress", name);
}
}
