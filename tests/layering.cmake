# Which folder may include what: the arrows between the folders, enforced. Any header of the standard library is allowed
# everywhere; every other include must match its folder's line below. Also: every variant in compute/kernels/ is listed.
#   cmake -DSOURCE_DIR=<top folder> -P tests/layering.cmake
cmake_minimum_required(VERSION 3.25)

# cuda_gl_interop.h is for compute/interop/ alone, which allows it by its own name.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/cuda_headers.cmake)
list(REMOVE_ITEM ORRERY_CUDA_HEADERS cuda_gl_interop.h)
list(TRANSFORM ORRERY_CUDA_HEADERS REPLACE "[.]" "[.]")
list(TRANSFORM ORRERY_CUDA_HEADERS APPEND "$")
list(JOIN ORRERY_CUDA_HEADERS "|" cuda_headers)
set(posix_headers "unistd[.]h$|fcntl[.]h$|sys/")
set(gl_headers "glad/|GL/|EGL/")
set(window_headers "GLFW/|imgui|implot")

set(rules "")
# may_include(<path pattern> <include pattern>...): the first line whose path pattern matches a file is the file's rule.
function(may_include path)
  list(JOIN ARGN "|" patterns)
  list(APPEND rules "${path}=${patterns}")
  set(rules "${rules}" PARENT_SCOPE)
endfunction()

# "compute/kernels/[^/]+$" is that folder alone, "compute/kernels/" with all below it. A nested folder stands before the
# one around it.
may_include("compute/core/" "compute/core/" "(cxxabi|pthread|sched|emmintrin)[.]h$" ${posix_headers})
# NVML comes with the driver and is opened at run time.
may_include("compute/cuda/" "compute/(core|cuda)/" "dlfcn[.]h$" ${cuda_headers})
may_include("compute/kernels/parts/" "compute/(core|cuda|kernels/parts)/" "compute/kernels/[^/]+$" "hwy/" ${cuda_headers})
may_include("compute/kernels/runtime/" "compute/(core|cuda|kernels/runtime)/" "compute/kernels/[^/]+$" "cxxabi[.]h$" ${cuda_headers})
foreach(folder direct symmetric tensor tree)
  may_include("compute/kernels/${folder}/" "compute/(core|cuda|kernels/parts|kernels/${folder})/" "compute/kernels/[^/]+$"
              "hwy/" ${cuda_headers})
endforeach()
may_include("compute/kernels/vector_units[.]cpp" "compute/core/" "compute/kernels/[^/]+$" "hwy/")
may_include("compute/kernels/" "compute/(core|cuda)/" "compute/kernels/[^/]+$" "kernels_list[.]inc$" ${cuda_headers})
may_include("compute/ranks/mpi_ranks[.]cpp" "compute/(core|ranks)/" "(mpi|sched)[.]h$")
may_include("compute/ranks/" "compute/(core|devices|diagnostics|integrators|ranks)/" "compute/kernels/[^/]+$")
may_include("compute/devices/" "compute/(core|cuda|devices|integrators)/" "compute/kernels/[^/]+$" "dlfcn[.]h$" ${cuda_headers})
may_include("compute/integrators/" "compute/(core|cuda|integrators)/" "compute/kernels/epilogue[.]h$"
            "integrators_list[.]inc$" ${cuda_headers})
may_include("compute/diagnostics/" "compute/(core|cuda|diagnostics)/" ${cuda_headers})
may_include("compute/snapshots/" "compute/(core|snapshots)/" "(hdf5|zlib)[.]h$" "snapshots_list[.]inc$" ${posix_headers})
may_include("compute/scenes/" "compute/(core|snapshots|scenes)/" "scenes_list[.]inc$")
may_include("compute/sim/" "compute/(core|cuda|devices|diagnostics|integrators|scenes|sim|snapshots)/" "compute/kernels/[^/]+$"
            ${cuda_headers})
may_include("compute/interop/" "compute/(core|cuda|interop)/" "GL/" "cuda_gl_interop[.]h$" ${cuda_headers})
may_include("render/gl/" "render/gl/" "glm/" "dlfcn[.]h$" ${gl_headers} ${posix_headers})
may_include("render/passes/" "render/" "glm/" ${gl_headers})
may_include("render/" "render/gl/" "render/[^/]+$" "glm/" "png[.]h$" "zlib[.]h$" ${gl_headers})
may_include("app/text/" "app/text/" "compute/core/" "fmt/" "nlohmann/" ${posix_headers})
# Measuring code sees the simulation and its parts, not OpenGL.
set(measured "compute/(core|cuda|diagnostics|integrators|scenes|sim)/" "compute/kernels/[^/]+$")
set(lists "[a-z_]+_(list|headers)[.]inc$")
may_include("app/process/this_program[.]cpp" "app/(process|text)/" "compute/core/" "(elf|link)[.]h$" "fmt/" ${posix_headers})
may_include("app/process/" "app/(process|text)/" "compute/(core|kernels/runtime)/" "fmt/" "spawn[.]h$" ${posix_headers})
may_include("app/lab/roofline/" "app/(process|text|lab/roofline|lab/sweep)/" "app/lab/[^/]+$" ${measured} "fmt/" ${posix_headers})
foreach(folder sweep tuning)
  may_include("app/lab/${folder}/" "app/(text|lab/${folder})/" "app/lab/[^/]+$" ${measured} "fmt/" ${posix_headers})
endforeach()
may_include("app/lab/" "app/text/" "app/lab/[^/]+$" ${measured} "orrery_version[.]h$" "fmt/")
may_include("app/colours/" "app/(text|colours)/" "compute/snapshots/units[.]h$" ${measured} "render/[^/]+$" ${lists} "fmt/")
# The window's status and commands: plain values.
may_include("app/ui_state/" "app/(colours|lab|text|ui_state)/" "compute/snapshots/" ${measured} "fmt/"
            "render/[^/]+$" ${lists})
may_include("app/commands/" "app/(commands|features|text|ui_state)/" "compute/(core|sim|snapshots)/" ${lists} "fmt/")
may_include("app/recording/" "app/(commands|text|lab|recording|ui_state)/" "compute/(core|sim|snapshots)/" "compute/kernels/kernel[.]h$"
            "orrery_version[.]h$" "fmt/" ${posix_headers})
# A feature has parts in several layers, told apart by the ends of their names; see app/features/lists.cmake.
foreach(feature compare profile race sweep workshop)
  may_include("app/features/${feature}/${feature}[.]h" "app/(features|lab|text|ui_state)/" ${measured})
endforeach()
may_include("app/features/.*_window[.](h|cpp)" "app/(colours|commands|features|lab|panels|process|recording|text|ui_state|window)/"
            "compute/(kernels/runtime|snapshots)/" ${measured} "render/" "glm/" "fmt/")
may_include("app/features/.*_(tab|panel)[.](h|cpp)" "app/(features|lab|panels|text|ui_state)/" ${measured} "imgui" "fmt/")
may_include("app/features/.*_verb[.](h|cpp)" "app/(cli|features|lab|process|recording|text|ui_state)/" "compute/(kernels/runtime|snapshots)/"
            ${measured} "orrery_version[.]h$" "CLI/" "fmt/" ${posix_headers})
may_include("app/features/.*_cuda[.]cpp" "app/features/" ${measured} "cuda_profiler_api[.]h$")
may_include("app/features/doctor/" "app/(features|lab|text|ui_state)/" ${measured} "fmt/" "(omp|sched)[.]h$" ${posix_headers})
may_include("app/features/film/" "app/(features|text|ui_state)/" "compute/core/" "render/[^/]+$" "fmt/" "(poll|spawn)[.]h$" ${posix_headers})
may_include("app/features/lessons/" "app/(commands|features|lab|text|ui_state)/" ${measured} "render/gl/" "fmt/")
may_include("app/features/report/" "app/(features|lab|text|ui_state)/" "compute/ranks/" ${measured} "orrery_version[.]h$" "fmt/")
may_include("app/features/runs/" "app/(commands|features|lab|recording|text|ui_state)/" "compute/snapshots/" ${measured} "orrery_version[.]h$"
            "fmt/")
may_include("app/features/workshop/" "app/(features|process|text|ui_state)/" "compute/kernels/runtime/" ${measured} "fmt/" ${posix_headers})
may_include("app/features/" "app/(features|lab|text)/" ${measured} "fmt/")
may_include("app/cli/"
            "app/(cli|colours|commands|lab|process|recording|text|ui_state)/"
            "compute/(snapshots|kernels/runtime)/" ${measured} "render/[^/]+$" ${lists} "orrery_version[.]h$" "fmt/"
            "CLI/" ${posix_headers})
may_include("app/panels/kit/" "app/(text)/" "app/panels/kit/" "compute/core/" "imgui" "fmt/")
# A panel shows values and describes descriptors; it sees no simulation.
may_include("app/panels/" "app/(colours|lab|panels|text|ui_state)/" "compute/(core|integrators|snapshots)/"
            "compute/sim/command[.]h$" "compute/kernels/(kernel|versioned_id)[.]h$" "render/appearance[.]h$" ${lists} "imgui" "fmt/")
may_include("app/overlays/" "app/(overlays|ui_state)/" "compute/(core|sim)/" "render/" "glm/" "fmt/")
may_include("app/window/"
            "app/(colours|commands|lab|overlays|panels|process|recording|text|ui_state|window)/"
            "compute/" "render/" ${lists} "glm/" "fmt/" "dlfcn[.]h$" ${posix_headers} ${gl_headers} ${window_headers})
may_include("app/[^/]+$" "app/(cli|process|text|ui_state|window)/" "compute/(core|ranks)/" "orrery_version[.]h$"
            ${posix_headers})
may_include("tests/benchmarks/" "compute/" "tests/compute/support/" "benchmark/" "hwy/" "sched[.]h$")
may_include("tests/compute/" "compute/" "tests/(compute/|test[.]h$)" "gtest/" "hwy/" "hdf5[.]h$" "kernels_list[.]inc$" ${cuda_headers}
            ${posix_headers})
may_include("tests/render/" "render/" "tests/(render/|test[.]h$)" "gtest/" "glm/" "png[.]h$" ${gl_headers} ${posix_headers})
may_include("tests/fuzz/" "app/" "compute/(core|snapshots|kernels/runtime)/" ${posix_headers})
may_include("tests/" "")

set(violations "")
function(violation text)
  list(APPEND violations "${text}")
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

function(check_includes file)
  set(ruled FALSE)
  foreach(rule IN LISTS rules)
    string(REGEX MATCH "^([^=]*)=(.*)$" matched "${rule}")
    set(allowed "${CMAKE_MATCH_2}")
    if(file MATCHES "^${CMAKE_MATCH_1}")
      set(ruled TRUE)
      break()
    endif()
  endforeach()
  if(NOT ruled)
    violation("${file} is in a folder without a rule: may_include() states what it may include")
    set(violations "${violations}" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${SOURCE_DIR}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]*).*" "\\1" include "${line}")
    if(include MATCHES "[./]" AND NOT include MATCHES "^(${allowed})")
      violation("${file} includes ${include}, which its folder may not")
    endif()
  endforeach()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

set(files "")
foreach(folder app compute render tests)
  file(GLOB_RECURSE found RELATIVE ${SOURCE_DIR}
    ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cuh ${SOURCE_DIR}/${folder}/*.inl
    ${SOURCE_DIR}/${folder}/*.cpp ${SOURCE_DIR}/${folder}/*.cu)
  list(APPEND files ${found})
endforeach()
if(files STREQUAL "")
  message(FATAL_ERROR "no sources under '${SOURCE_DIR}'")
endif()
foreach(file IN LISTS files)
  check_includes(${file})
endforeach()

# A variant without a line in the list would never be built.
file(READ ${SOURCE_DIR}/compute/CMakeLists.txt build)
string(REGEX MATCH "orrery_descriptors\\(kernels([^)]*)\\)" list "${build}")
file(GLOB_RECURSE variants RELATIVE ${SOURCE_DIR}/compute/kernels
  ${SOURCE_DIR}/compute/kernels/cpu_*.cpp ${SOURCE_DIR}/compute/kernels/cuda_*.cu)
foreach(variant IN LISTS variants)
  string(FIND "${list}" " ${variant}\n" at)
  if(at EQUAL -1)
    violation("compute/kernels/${variant} is not in the list of kernels in compute/CMakeLists.txt")
  endif()
endforeach()

if(violations)
  list(JOIN violations "\n  " text)
  message(FATAL_ERROR "Against the layers of the house (see docs/architecture.md and tests/layering.cmake):\n  ${text}\n")
endif()
