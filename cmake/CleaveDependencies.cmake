# What the library stands on, as one interface target: cleave_dependencies.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C)

set(missing "")
if(NOT OpenMP_C_FOUND)
  list(APPEND missing "OpenMP for ${CMAKE_C_COMPILER_ID}")
endif()
foreach(module openblas lapacke arpack libpng libjpeg zlib jansson)
  pkg_check_modules(CLEAVE_${module} QUIET IMPORTED_TARGET ${module})
  if(NOT CLEAVE_${module}_FOUND)
    list(APPEND missing ${module})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "Not found: ${missing}. On Debian and Ubuntu `scripts/deps` installs what is missing.")
endif()

add_library(cleave_dependencies INTERFACE)
target_link_libraries(cleave_dependencies INTERFACE
  PkgConfig::CLEAVE_openblas PkgConfig::CLEAVE_lapacke PkgConfig::CLEAVE_arpack PkgConfig::CLEAVE_libpng
  PkgConfig::CLEAVE_libjpeg PkgConfig::CLEAVE_jansson PkgConfig::CLEAVE_zlib
  OpenMP::OpenMP_C Threads::Threads ${CMAKE_DL_LIBS} m)
