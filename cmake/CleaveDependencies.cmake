# What the library stands on, as one interface target: cleave_dependencies.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C)

set(missing "")
if(NOT OpenMP_C_FOUND)
  list(APPEND missing "OpenMP for ${CMAKE_C_COMPILER_ID}")
endif()
foreach(module openblas lapacke arpack libpng libjpeg matio zlib jansson)
  pkg_check_modules(CLEAVE_${module} QUIET IMPORTED_TARGET ${module})
  if(NOT CLEAVE_${module}_FOUND)
    list(APPEND missing ${module})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "Not found: ${missing}. On Debian and Ubuntu `scripts/deps` installs what is missing.")
endif()

# matio's pkg-config file names hdf5 as well, which is only needed to link matio statically.
find_library(CLEAVE_MATIO_LIBRARY matio HINTS ${CLEAVE_matio_LIBRARY_DIRS} REQUIRED)
mark_as_advanced(CLEAVE_MATIO_LIBRARY)

add_library(cleave_dependencies INTERFACE)
target_include_directories(cleave_dependencies SYSTEM INTERFACE ${CLEAVE_matio_INCLUDE_DIRS})
target_link_libraries(cleave_dependencies INTERFACE
  PkgConfig::CLEAVE_openblas PkgConfig::CLEAVE_lapacke PkgConfig::CLEAVE_arpack PkgConfig::CLEAVE_libpng
  PkgConfig::CLEAVE_libjpeg PkgConfig::CLEAVE_jansson PkgConfig::CLEAVE_zlib ${CLEAVE_MATIO_LIBRARY}
  OpenMP::OpenMP_C Threads::Threads m)
