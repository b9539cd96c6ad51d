#include "app/process/this_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

#include "app/text/console.h"
#include "compute/core/error.h"

namespace orrery {

namespace {

constexpr std::size_t aligned(std::size_t size) {
  return (size + 3) / 4 * 4;
}

/// Returns the build id among the notes of one segment; empty if there is none.
std::string id_among(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = sizeof note, value = name + aligned(note.n_namesz);
    if (value + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      std::string id;
      for (const unsigned char byte : notes.subspan(value, note.n_descsz)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes = notes.subspan(std::min(notes.size(), value + aligned(note.n_descsz)));
  }
  return {};
}

/// Callback of dl_iterate_phdr: stores the build id of the first object, the program, and ends the iteration.
int find_id(dl_phdr_info* object, std::size_t, void* id) {
  for (const auto& segment : std::span{object->dlpi_phdr, object->dlpi_phnum}) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    auto& found = *static_cast<std::string*>(id);
    if (found.empty()) found = id_among({notes, segment.p_memsz});
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(find_id, &id);
  return id.empty() ? "unknown" : id;
}

namespace {

constexpr std::string_view crashed =
    "orrery: the program crashed, perhaps in a library such as the graphics driver; too little memory (ulimit -v) can "
    "be the cause\n";
constexpr std::string_view ended = "orrery: a library has ended the program; its message is above this line\n";

std::atomic<pid_t> watched{0};  // process id; the end of forked children is not reported; 0: nothing is reported
alignas(16) char crash_stack[1 << 16];

/// Prints the line. Uses only calls that a signal handler may make.
void say(std::string_view line) {
  if (watched.exchange(0) == getpid()) (void)!write(STDERR_FILENO, line.data(), line.size());
}

void crash(int signal) {
  say(crashed);
  raise(signal);  // ends the program as without this handler
}

[[noreturn]] void end_for_exception() {
  if (const std::exception_ptr failure = std::current_exception(); failure && watched.exchange(0) == getpid()) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      console::complain("the program must end: " + failure_text(error));
    } catch (...) {
      console::complain("the program must end after a failure that has no description");
    }
  }
  std::abort();
}

}  // namespace

void report_early_end() {
  watched = getpid();
  std::atexit([] { say(ended); });
  std::set_terminate(end_for_exception);
#ifndef ORRERY_SANITIZED  // sanitizers report crashes themselves
  const stack_t stack{.ss_sp = crash_stack, .ss_flags = 0, .ss_size = sizeof crash_stack};
  sigaltstack(&stack, nullptr);  // the handler needs its own stack after a stack overflow
  struct sigaction action {};
  action.sa_handler = crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
#endif
}

void end_as_planned() {
  watched = 0;
}

}  // namespace orrery
