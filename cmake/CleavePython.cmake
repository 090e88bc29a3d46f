# The Python package (pyproject.toml): the library beside its modules, and, written when the package is built, what cffi
# has to know of the header and the parameters of the estimators, which the library itself lists.
find_package(Python REQUIRED COMPONENTS Interpreter)
set(folder ${PROJECT_BINARY_DIR}/python)
add_custom_command(OUTPUT ${folder}/_binding.py
  COMMAND Python::Interpreter ${PROJECT_SOURCE_DIR}/python/make_binding.py ${PROJECT_SOURCE_DIR}/include/cleave.h
    ${folder}/_binding.py
  DEPENDS python/make_binding.py include/cleave.h VERBATIM)
add_custom_command(OUTPUT ${folder}/_parameters.py
  COMMAND Python::Interpreter ${PROJECT_SOURCE_DIR}/python/make_parameters.py $<TARGET_FILE:cleave> ${folder}
    ${folder}/_parameters.py
  DEPENDS cleave ${folder}/_binding.py python/make_parameters.py python/cleave/_library.py python/cleave/_options.py
  VERBATIM)
add_custom_target(cleave_binding ALL DEPENDS ${folder}/_binding.py ${folder}/_parameters.py)
install(FILES ${folder}/_binding.py ${folder}/_parameters.py DESTINATION cleave COMPONENT python)
install(FILES $<TARGET_FILE:cleave> DESTINATION cleave COMPONENT python RENAME libcleave${CMAKE_SHARED_LIBRARY_SUFFIX})
