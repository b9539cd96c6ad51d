# Run by ctest before it selects among the tests: a GoogleTest program lists its suites, and each is a test, which runs all
# of the suite in one process. The list is kept beside the program's build until that is newer.

# orrery_suites(<name> <file> <environment> <suffix> <property> <value>...): the suites of a program, with this at the end
# of their names. A suite counts as skipped if all of its tests were.
function(orrery_suites name file environment suffix)
  if(NOT EXISTS ${file})
    add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
    return()
  endif()
  set(list ${file}${suffix}.suites)
  if(${file} IS_NEWER_THAN ${list})
    execute_process(COMMAND env ${environment} ${file} --gtest_list_tests
                    OUTPUT_VARIABLE listing RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${file} --gtest_list_tests: status ${status}\n${listing}")
    endif()
    string(REGEX MATCHALL "\n[A-Za-z0-9_/]+[.]" suites "\n${listing}")
    list(TRANSFORM suites REPLACE "[\n.]" "")
    list(REMOVE_DUPLICATES suites)
    file(WRITE ${list} "${suites}")
  endif()
  file(READ ${list} suites)
  foreach(suite IN LISTS suites)
    add_test(${suite}${suffix} ${file} --gtest_filter=${suite}.*)
    set_tests_properties(${suite}${suffix} PROPERTIES ENVIRONMENT "${environment}"
      SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests[.](\n\\[  SKIPPED \\] [^\n]*)+\n*$" ${ARGN})
  endforeach()
endfunction()
