#pragma once

#include <string>

namespace orrery::test {

/// A small lesson that is right, and is measured in no time.
inline std::string lesson_text() {
  return R"(# A lesson

Words of an introduction.

## Scene

```window
scene plummer
softening 0.05
appearance colour=mass
```

## Predict

How many times as long, with {threads} threads?

```predict
time big / small
below 2: Less than twice.
2 to 8: About four times.
above 8: More than that.
```

## Measure

```measure
small = cpu-serial n=16
big = cpu-serial n=32
vector = cpu-simd threads=1 n=32
```

## Answer

It took {time big}, which is {time big / small} times {time small}.

| what | here | the source | where |
| --- | --- | --- | --- |
| gain | {rate vector} | 29 times | row 13 |

## Change

- Something.
)";
}

/// The same with `to` in place of `from`, which must be there once.
inline std::string lesson_with(const std::string& from, const std::string& to) {
  std::string text = lesson_text();
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no '" + from + "'" : text.replace(at, from.size(), to);
}

}  // namespace orrery::test
