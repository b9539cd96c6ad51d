#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>

namespace orrery {

/// How a thread's arithmetic treats numbers below the smallest normal one: 1.2e-38 in float, 2.2e-308 in double.
/// Processors take some hundred cycles for each that they keep. Always `kept` on processors other than x86 and 64-bit
/// ARM.
enum class Subnormals { kept, flushed };

/// The control word of floating-point arithmetic of this thread. A new thread has its creator's.
class FloatControl {
 public:
#if defined(__SSE2__)
  using Word = unsigned;
  static constexpr Word flush = 0x8040;  // results (FTZ) and operands (DAZ)
  static Word get() {
    return _mm_getcsr();
  }
  static void set(Word word) {
    _mm_setcsr(word);
  }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word flush = Word{1} << 24;  // FZ
  static Word get() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) {
    asm volatile("msr fpcr, %0" : : "r"(word));
  }
#else
  using Word = unsigned;
  static constexpr Word flush = 0;
  static Word get() {
    return 0;
  }
  static void set(Word /*word*/) {}
#endif
};

/// Returns how this thread treats them now.
inline Subnormals subnormals_here() {
  return FloatControl::flush != 0 && (FloatControl::get() & FloatControl::flush) == FloatControl::flush
             ? Subnormals::flushed
             : Subnormals::kept;
}

/// Sets how this thread treats them; the destructor restores the former treatment.
class WithSubnormals {
 public:
  explicit WithSubnormals(Subnormals mode) {
    FloatControl::set(mode == Subnormals::flushed ? before_ | FloatControl::flush : before_ & ~FloatControl::flush);
  }
  ~WithSubnormals() { FloatControl::set(before_); }
  WithSubnormals(const WithSubnormals&) = delete;
  WithSubnormals& operator=(const WithSubnormals&) = delete;

 private:
  FloatControl::Word before_ = FloatControl::get();
};

}  // namespace orrery
