# The thread sanitizer does not know OpenMP's barriers. libomp comes with a tool, Archer, that tells it of them; gcc's
# libgomp has none and reports races that are not there, so the tsan build is clang's. Sets CLEAVE_ARCHER_ENVIRONMENT,
# with which every test must run.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "The thread sanitizer needs clang and libomp: gcc's OpenMP library gives false alarms")
endif()
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-resource-dir
  OUTPUT_VARIABLE resource_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
find_file(CLEAVE_ARCHER libarcher.so HINTS ${resource_dir}/../.. PATHS /usr/lib /usr/local/lib)
if(NOT CLEAVE_ARCHER)
  message(FATAL_ERROR "libarcher.so was not found: it comes with libomp-dev")
endif()
get_filename_component(archer ${CLEAVE_ARCHER} REALPATH)

# OpenBLAS and the Fortran libraries are not instrumented: what happens inside them is not looked at.
set(CLEAVE_ARCHER_ENVIRONMENT
  "OMP_TOOL_LIBRARIES=${archer}"
  "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:second_deadlock_stack=1")
