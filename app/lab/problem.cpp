#include "app/lab/problem.h"

#include <exception>
#include <new>

#include "app/text/lines.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"

namespace orrery {

Problem problem_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const UsageError& error) {
    return {.text = one_line(error.what()), .refused = true};
  } catch (const std::bad_alloc&) {
    return {.text = "not enough memory"};
  } catch (const std::exception& error) {
    return {.text = one_line(failure_text(error))};
  }
}

}  // namespace orrery
