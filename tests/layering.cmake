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
may_include("compute/core/(atomic_file|descriptor|host_memory|row_file|trial_process)[.]cpp" "compute/core/" ${posix_headers})
may_include("compute/core/" "compute/core/" "(cxxabi|pthread|sched|emmintrin)[.]h$")
# NVML comes with the driver and is opened at run time.
may_include("compute/cuda/" "compute/(core|cuda)/" "dlfcn[.]h$" ${cuda_headers})
may_include("compute/kernels/parts/" "compute/(core|cuda|kernels/parts)/" "compute/kernels/[^/]+$" "hwy/" ${cuda_headers})
may_include("compute/kernels/runtime/" "compute/(core|cuda|kernels/runtime)/" "compute/kernels/[^/]+$" "cxxabi[.]h$" ${cuda_headers})
foreach(folder direct symmetric tensor tree)
  may_include("compute/kernels/${folder}/" "compute/(core|cuda|kernels/parts|kernels/${folder})/" "compute/kernels/[^/]+$"
              "hwy/" ${cuda_headers})
endforeach()
may_include("compute/kernels/" "compute/(core|cuda)/" "compute/kernels/[^/]+$" "kernels_list[.]inc$" ${cuda_headers})
may_include("compute/ranks/mpi_ranks[.]cpp" "compute/(core|ranks)/" "(mpi|sched)[.]h$")
may_include("compute/ranks/" "compute/(core|integrators|ranks)/" "compute/kernels/[^/]+$" "compute/devices/(learned_parts|learned_sizes|part_sizes)[.]h$"
            "compute/diagnostics/conserved[.]h$")
may_include("compute/devices/" "compute/(core|cuda|devices)/" "compute/integrators/update_cuda[.]h$" "compute/kernels/[^/]+$" "compute/kernels/parts/scratch[.]h$"
            "dlfcn[.]h$" ${cuda_headers})
may_include("compute/integrators/" "compute/(core|cuda|integrators)/" "compute/kernels/(body_pass|epilogue)[.]h$"
            "integrators_list[.]inc$" ${cuda_headers})
may_include("compute/diagnostics/" "compute/(core|cuda|diagnostics)/" ${cuda_headers})
may_include("compute/snapshots/checked_stream[.]h" "compute/(core|snapshots)/" "zlib[.]h$")
may_include("compute/snapshots/hdf5[.]cpp" "compute/(core|snapshots)/" "hdf5[.]h$" ${posix_headers})
may_include("compute/snapshots/" "compute/(core|snapshots)/" "snapshots_list[.]inc$")
may_include("compute/scenes/" "compute/(core|snapshots|scenes)/" "scenes_list[.]inc$")
may_include("compute/sim/engine/" "compute/(core|cuda|integrators|diagnostics|sim/engine)/" "compute/kernels/[^/]+$"
            ${cuda_headers})
may_include("compute/sim/" "compute/(core|cuda|devices|integrators|diagnostics|scenes|sim/engine)/" "compute/kernels/[^/]+$"
            "compute/sim/[^/]+$" "compute/snapshots/(columns|snapshot)[.]h$" ${cuda_headers})
may_include("compute/interop/" "compute/(core|cuda|interop)/" "compute/sim/engine/device_storage[.]h$" "GL/"
            "cuda_gl_interop[.]h$" ${cuda_headers})
may_include("render/gl/" "render/gl/" "glm/" ${gl_headers} ${posix_headers})
may_include("render/passes/" "render/" "glm/" ${gl_headers})
may_include("render/" "render/gl/" "render/[^/]+$" "glm/" "png[.]h$" "zlib[.]h$" ${gl_headers})
may_include("app/text/" "app/text/" "compute/core/" "fmt/" "nlohmann/" ${posix_headers})
# Measuring code sees the simulation and its parts, not OpenGL.
set(measured "compute/(core|cuda|diagnostics)/" "compute/(kernels|sim)/[^/]+$")
may_include("app/process/build_id[.]cpp" "app/process/" "(elf|link)[.]h$" "fmt/")
may_include("app/process/" "app/(process|text)/" "compute/core/" "spawn[.]h$" ${posix_headers})
may_include("app/lab/profile/own_evaluation_cuda[.]cpp" "app/lab/profile/" "app/lab/variants[.]h$" ${measured}
            "cuda_profiler_api[.]h$")
may_include("app/lab/profile/" "app/(text|lab/profile)/" "app/lab/[^/]+$" ${measured}
            "compute/kernels/parts/(fma_limit|threads)[.]h$" "fmt/")
may_include("app/lab/roofline/" "app/(process|text|lab/roofline)/" "app/lab/(sweep/sweep[.]h|[^/]+)$" ${measured} "compute/kernels/parts/fma_limit[.]h$" "fmt/"
            ${posix_headers})
may_include("app/lab/race/race_size[.]h" "compute/(core/text|integrators/integrator|kernels/kernel)[.]h$")
foreach(folder divergence race sweep tuning)
  may_include("app/lab/${folder}/" "app/(text|lab/${folder})/" "app/lab/[^/]+$" ${measured} "fmt/"
              ${posix_headers})
endforeach()
may_include("app/lab/" "app/text/" "app/lab/[^/]+$" ${measured} "orrery_version[.]h$" "fmt/")
may_include("app/workshop/" "app/(process|text|workshop)/" "app/ui_state/workshop_status[.]h$" "compute/kernels/(runtime/)?[^/]+$" ${measured} "fmt/" ${posix_headers})
may_include("app/recording/" "app/(text|lab|recording)/" "compute/core/" "compute/sim/command[.]h$" "fmt/"
            ${posix_headers})
may_include("app/report/" "app/(text|lab|report)/" "app/ui_state/gl_report[.]h$" "compute/core/" "compute/cuda/device[.]h$"
            "compute/ranks/mpi_ranks[.]h$" "compute/sim/backends[.]h$" "compute/kernels/parts/simd[.]h$" "hwy/targets[.]h$" "orrery_version[.]h$"
            "fmt/")
may_include("app/doctor/" "app/(text|lab|doctor)/" "app/ui_state/gl_report[.]h$" ${measured} "fmt/" "(omp|sched)[.]h$" ${posix_headers})
may_include("app/camera_path/" "app/(text|camera_path)/" "compute/core/" "fmt/")
may_include("app/lessons/" "app/(text|lab|lessons)/" "app/lab/sweep/" "app/ui_state/command[.]h$" "app/commands/command_text[.]h$"
            ${measured} "compute/scenes/scene[.]h$" "render/gl/embedded[.]h$" "fmt/")
may_include("app/film/" "app/(text|film)/" "app/ui_state/picture_options[.]h$" "compute/core/"
            "render/image[.]h$" "fmt/" "(poll|spawn)[.]h$" ${posix_headers})
may_include("app/ui_state/" "app/ui_state/" "app/lab/(divergence/divergence|profile/kernel_profile)[.]h$" "app/camera_path/camera_path[.]h$" "app/text/(markdown|parse_value)[.]h$" "compute/(core|scenes|snapshots)/"
            "compute/devices/device_list[.]h$" "compute/sim/(command|command_row)[.]h$" "compute/cuda/peak_rates[.]h$"
            "render/appearance[.]h$")
may_include("app/commands/" "app/(text|ui_state|commands)/" "compute/core/" "compute/snapshots/(columns|units)[.]h$" "fmt/")
may_include("app/runs/" "app/(text|lab|recording|ui_state|commands|runs)/" "compute/(core|diagnostics|snapshots)/"
            "compute/(integrators/integrator|scenes/natural_scales|kernels/parts/threads)[.]h$" "compute/sim/[^/]+$" "compute/sim/engine/results[.]h$" "orrery_version[.]h$" "fmt/")
may_include("app/cli/" "compute/devices/device_list[.]h$" "app/(text|lab|recording|report|doctor|ui_state|commands|camera_path|lessons|runs|workshop|cli)/" ${measured}
            "compute/kernels/runtime/(compiler_log|file_kernel|kernel_file|new_kernel)[.]h$" "compute/(integrators/integrator|scenes/(natural_scales|scene)|snapshots/(snapshot_format|units))[.]h$"
            "orrery_version[.]h$" "fmt/" "CLI/" ${posix_headers})
may_include("app/panels/kit/" "app/panels/kit/" "app/text/table[.]h$" "compute/core/text[.]h$"
            "imgui" "fmt/")
may_include("app/panels/" "app/(panels|ui_state)/" "app/text/(markdown|progress)[.]h$" "app/lab/(force_promise|statistics|race/race_size|roofline/instruction_counts|profile/kernel_profile)[.]h$" "compute/core/"
            "compute/(sim/command|kernels/(kernel|versioned_id)|integrators/integrator|snapshots/(snapshot_format|units))[.]h$"
            "render/appearance[.]h$" "imgui" "fmt/")
may_include("app/overlays/" "app/(overlays|ui_state)/" "compute/core/text[.]h$" "compute/sim/command[.]h$" "render/" "glm/" "fmt/")
may_include("app/viewer/" "app/(text|lab|recording|report|ui_state|commands|camera_path|lessons|runs|film|overlays|panels|process|workshop|viewer)/" "compute/" "render/" "glm/" "fmt/"
            "dlfcn[.]h$" ${posix_headers} ${gl_headers} ${window_headers})
may_include("app/[^/]+$" "app/(text|process|workshop|cli|ui_state|viewer)/" "compute/(core|ranks)/" "compute/sim/backends[.]h$" "compute/devices/cuda_rank_device[.]h$"
            "orrery_version[.]h$" ${posix_headers})
may_include("tests/benchmarks/" "compute/" "tests/compute/support/" "benchmark/" "hwy/" "sched[.]h$")
may_include("tests/compute/" "compute/" "tests/compute/" "gtest/" "hwy/" "hdf5[.]h$" "kernels_list[.]inc$" ${cuda_headers}
            ${posix_headers})
may_include("tests/render/" "render/" "tests/render/" "gtest/" "glm/" "png[.]h$" ${gl_headers} ${posix_headers})
may_include("tests/fuzz/" "tests/fuzz/(input[.]h|targets[.]inc)$" "app/(lab/baseline|lab/tuning/auto_chooser|cli/(options|read_script)|commands/(command_text|window_memory)|camera_path/camera_path|runs/replay|lessons/(lesson|lesson_results))[.]h$"
            "compute/core/temporary_folder[.]h$" "compute/snapshots/snapshot_(format|input)[.]h$" "compute/kernels/runtime/compiler_log[.]h$"
            ${posix_headers})
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
