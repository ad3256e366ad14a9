# find_package(tfc): the program tfc, the targets tfc::runtime and, if MPI was there, tfc::mpi, and tfc_add_model().

get_filename_component(TFC_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(TFC_EXECUTABLE "${TFC_PREFIX}/bin/tfc")
find_package(Threads REQUIRED)

if(NOT TARGET tfc::runtime)
  add_library(tfc::runtime STATIC IMPORTED)
  set_target_properties(tfc::runtime PROPERTIES
    IMPORTED_LOCATION "${TFC_PREFIX}/lib/libtfcrt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${TFC_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
endif()

if(NOT TARGET tfc::mpi AND EXISTS "${TFC_PREFIX}/lib/libtfcmpi.so")
  add_library(tfc::mpi SHARED IMPORTED)
  set_target_properties(tfc::mpi PROPERTIES
    IMPORTED_LOCATION "${TFC_PREFIX}/lib/libtfcmpi.so"
    INTERFACE_INCLUDE_DIRECTORIES "${TFC_PREFIX}/include")
endif()

# tfc_add_model(TARGET FILE.graph [PREFIX name] [OPTIONS option...] [DEPENDS file...])
# A library to link to: the model's functions, and TARGET.h on the include path. DEPENDS names other
# files that the graph reads.
function(tfc_add_model target graph)
  cmake_parse_arguments(ARG "" "PREFIX" "OPTIONS;DEPENDS" ${ARGN})
  get_filename_component(graph "${graph}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.tfc")
  file(MAKE_DIRECTORY "${folder}")
  set(archive "${folder}/lib${target}.a")
  if(ARG_PREFIX)
    list(APPEND ARG_OPTIONS --prefix "${ARG_PREFIX}")
  endif()
  add_custom_command(
    OUTPUT "${archive}" "${folder}/${target}.h"
    COMMAND "${TFC_EXECUTABLE}" compile "${graph}" -o "${archive}" ${ARG_OPTIONS}
    DEPENDS "${graph}" ${ARG_DEPENDS} "${TFC_EXECUTABLE}"
    COMMENT "Compiling ${target}"
    VERBATIM)
  add_custom_target(${target}-tfc DEPENDS "${archive}" "${folder}/${target}.h")
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}-tfc)
  target_include_directories(${target} INTERFACE "${folder}")
  target_link_libraries(${target} INTERFACE "${archive}" tfc::runtime)
endfunction()
