# The Python package (pyproject.toml): the library beside its modules, and what cffi has to know of the header, written when
# the package is built.
find_package(Python REQUIRED COMPONENTS Interpreter)
set(binding ${PROJECT_BINARY_DIR}/python/_binding.py)
add_custom_command(OUTPUT ${binding}
  COMMAND Python::Interpreter ${PROJECT_SOURCE_DIR}/python/make_binding.py ${PROJECT_SOURCE_DIR}/include/cleave.h ${binding}
  DEPENDS python/make_binding.py include/cleave.h VERBATIM)
add_custom_target(cleave_binding ALL DEPENDS ${binding})
install(FILES ${binding} DESTINATION cleave COMPONENT python)
install(FILES $<TARGET_FILE:cleave> DESTINATION cleave COMPONENT python RENAME libcleave${CMAKE_SHARED_LIBRARY_SUFFIX})
