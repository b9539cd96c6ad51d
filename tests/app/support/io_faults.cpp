// A library to preload into a program: lets one call of its input and output fail. ORRERY_IO_FAULT names which, as
// "CALL NUMBER FAULT PART":
//   CALL    write (also pwrite), fsync, rename (also renameat, renameat2), link (linkat), nameless (open with
//   O_TMPFILE) NUMBER  the how manyth such call fails, from 1; 0: every one FAULT   an error (EIO, ENOSPC, ...), short
//   (half of the bytes), or kill (SIGKILL) PART    only calls count whose file's path contains this
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct Fault {
  char call[16] = "", kind[16] = "", part[512] = "";
  int number = 0;
};

const Fault& wanted() {
  static const Fault fault = [] {
    Fault read;
    const char* const text = std::getenv("ORRERY_IO_FAULT");
    if (text) (void)std::sscanf(text, "%15s %d %15s %511s", read.call, &read.number, read.kind, read.part);
    return read;
  }();
  return fault;
}

int error_of(std::string_view kind) {
  if (kind == "EIO") return EIO;
  if (kind == "ENOSPC") return ENOSPC;
  if (kind == "EINVAL") return EINVAL;
  if (kind == "EOPNOTSUPP") return EOPNOTSUPP;
  return 0;
}

/// Whether this call is the one that is to fail.
bool hit(std::string_view call, std::string_view path) {
  static std::atomic<int> count{0};
  const Fault& fault = wanted();
  if (call != fault.call || path.find(fault.part) == std::string_view::npos) return false;
  const bool now = ++count == fault.number || fault.number == 0;
  if (now && std::string_view{fault.kind} == "kill") kill(getpid(), SIGKILL);
  return now;
}

std::string path_of(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return {path, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string path_at(int folder, const char* name) {
  return name[0] == '/' || folder == AT_FDCWD ? std::string{name} : path_of(folder) + '/' + name;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int fail() {
  errno = error_of(wanted().kind);
  return -1;
}

/// A write of `size` bytes through `write_bytes(how many)`.
template <class Write>
ssize_t written(int descriptor, std::size_t size, Write write_bytes) {
  if (!hit("write", path_of(descriptor))) return write_bytes(size);
  return error_of(wanted().kind) != 0 ? fail() : write_bytes((size + 1) / 2);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static const auto call = real<decltype(write)>("write");
  return written(descriptor, size, [&](std::size_t n) { return call(descriptor, bytes, n); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  static const auto call = real<decltype(pwrite)>("pwrite");
  return written(descriptor, size, [&](std::size_t n) { return call(descriptor, bytes, n, at); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return pwrite(descriptor, bytes, size, at);
}

int fsync(int descriptor) {
  static const auto call = real<decltype(fsync)>("fsync");
  return hit("fsync", path_of(descriptor)) ? fail() : call(descriptor);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  static const auto call = real<decltype(renameat)>("renameat");
  return hit("rename", path_at(to_folder, to)) ? fail() : call(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  static const auto call = real<decltype(renameat2)>("renameat2");
  return hit("rename", path_at(to_folder, to)) ? fail() : call(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) {
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static const auto call = real<decltype(linkat)>("linkat");
  return hit("link", path_at(to_folder, to)) ? fail() : call(from_folder, from, to_folder, to, flags);
}

int openat(int folder, const char* name, int flags, ...) {
  static const auto call = real<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_TMPFILE) == O_TMPFILE && hit("nameless", path_at(folder, name))) return fail();
  return call(folder, name, flags, mode);
}

}  // extern "C"
