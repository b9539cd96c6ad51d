#include "compute/kernels/runtime/plain_words.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <regex>
#include <vector>

namespace orrery {
namespace {

struct Meaning {
  const char* pattern;  ///< a regular expression
  const char* meaning;  ///< with $1, $2 for its groups
};

/// In the order of the search.
constexpr Meaning meanings[] = {
    {R"re(identifier "[^"]*" is undefined)re",
     "nothing above this line declares the name; check its spelling, or declare it first"},
    {R"re(expected a ";")re",
     "the statement before has no end; often it is the end of the line above that lacks the ;"},
    {R"re(expected a "([)\]}])")re", "a bracket that was opened before has no $1"},
    {R"re(this declaration has no storage class)re",
     "a statement stands outside of every function; there may be one } too many above"},
    {R"re(expected (?:a|an) (?:statement|declaration|expression))re",
     "this cannot stand here; check the brackets and the end of the line above"},
    {R"re(no suitable .*conversion.* from "([^"]*)" to "([^"]*)" exists)re",
     "a $1 does not become a $2 by itself; a member such as .x may be missing"},
    {R"re(a value of type "([^"]*)" cannot be .* an entity of type "([^"]*)")re",
     "the types differ: this is a $1, and a $2 is needed"},
    {R"re(no operator "([^"]*)" matches these operands)re",
     "these types have no $1; compute with their members: x, y and z, and w of a Vec4"},
    {R"re(no instance of .* matches the argument list.*\bdouble\b)re",
     "the function takes other arguments; 1.0 is a double, and 1.0f is a float"},
    {R"re(no instance of .* matches the argument list)re",
     "the function takes another number of arguments, or arguments of other types"},
    {R"re(more than one instance of overloaded function)re",
     "the arguments have different types; give them the same one: 1.0f is a float, 1 an int, and 1.0 a double"},
    {R"re(too many arguments in function call)re", "the function takes fewer arguments"},
    {R"re(too few arguments in function call)re", "the function takes more arguments"},
    {R"re(class "Vec3[^"]*" has no member)re", "a Vec3 has x, y and z"},
    {R"re(class "Vec4" has no member)re", "a Vec4 has x, y, z and w; w of a body is its mass"},
    {R"re(namespace "std" has no member)re",
     "a kernel file has no standard library, but CUDA's functions, without std::, such as sqrtf and fminf"},
    {R"re(expression must be a modifiable lvalue)re",
     "what stands left of the = cannot be changed: it is const, or belongs to the sources"},
    {R"re(expression must have a constant value)re",
     "the compiler has to know this number: use a literal, a constexpr variable or a tunable"},
    {R"re(has already been declared in the current scope)re", "two variables have this name; choose another one"},
    {R"re(user-defined literal operator not found)re",
     "no number ends like this; a float has a point before its f, as in 1.0f"},
    {R"re(expression must have class type but it has type "[^"]*\*")re",
     "this is a pointer: read an element, as in bodies[j].x"},
    {R"re(operator -> or ->\* applied)re", "this is no pointer: write a point in place of ->"},
    {R"re(explicitly marked as a __host__ function)re", "a kernel file has code of the GPU only: leave out __host__"},
    {R"re(Not a name of any known instruction)re", "asm() has an instruction that this GPU does not know"},
};

constexpr Meaning failures[] = {
    {"cudaErrorIllegalAddress", "the kernel reads or writes memory outside of its arrays"},
    {"cudaErrorMisalignedAddress",
     "the kernel reads or writes at an address that does not fit the type; a cast of a pointer may be wrong"},
    {"cudaErrorInvalidAddressSpace",
     "the kernel uses a pointer for another kind of memory than it points to: global, shared or local memory"},
    {"cudaErrorLaunchFailure",
     "the GPU stopped the kernel: it met a trap, or left its arrays in shared or local memory"},
    {"cudaErrorAssert", "an assert() of the kernel failed"},
    {"cudaErrorIllegalInstruction", "the kernel met an instruction that the GPU cannot run; asm() may be wrong"},
    {"cudaErrorHardwareStackError", "the kernel needs too much stack: a function may call itself without end"},
    {"cudaErrorInvalidPc", "the kernel went on where there is no code; a pointer to a function may be wrong"},
    {"cudaErrorLaunchTimeout", "the kernel took longer than the system allows on a GPU that also draws"},
    {"cudaErrorLaunchOutOfResources",
     "a block needs more registers or shared memory than the GPU has; fewer threads per block need less"},
    {"cudaErrorMemoryAllocation", "the GPU is short of memory; arrays in a function take room for every thread"},
    {"cudaErrorNoKernelImageForDevice", "the kernel was compiled for another GPU"},
    {"cudaErrorInvalidKernelImage", "the driver cannot load the compiled kernel; it may be older than the compiler"},
    {"cudaErrorUnsupportedPtxVersion", "the driver is older than the compiler: install a newer driver"},
};

std::string without_namespace(std::string text) {
  constexpr std::string_view ours = "orrery::";
  for (std::size_t at = 0; (at = text.find(ours, at)) != std::string::npos;) text.erase(at, ours.size());
  return text;
}

}  // namespace

std::string with_meaning(const std::string& message) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> all;
    for (const Meaning& known : meanings) all.emplace_back(known.pattern);
    return all;
  }();
  const std::string text = without_namespace(message);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::smatch found;
    if (std::regex_search(text, found, patterns[i])) return text + ": " + found.format(meanings[i].meaning);
  }
  return text;
}

std::string in_plain_words(const std::string& failure) {
  const std::size_t name = failure.rfind(" (cudaError"), end = failure.rfind(')');
  if (name == std::string::npos || end == std::string::npos || end < name) return failure;
  const std::string error = failure.substr(name + 2, end - name - 2);
  const auto known = std::ranges::find_if(failures, [&](const Meaning& each) { return error == each.pattern; });
  if (known != std::end(failures)) return std::string{known->meaning} + " (" + error + ")";
  const std::size_t call = failure.rfind(": ", name);
  return "CUDA reports: " + failure.substr(call == std::string::npos ? 0 : call + 2);
}

std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free};
  return status == 0 && name ? without_namespace(name.get()) : symbol;
}

}  // namespace orrery
