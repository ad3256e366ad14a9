# `cmake --install` copies the compiler, the runtime for objects and archives, its header, and the
# files that find_package(tfc) reads. tfc finds the runtime relative to its own folder.
include(CMakePackageConfigHelpers)
install(TARGETS tfc RUNTIME DESTINATION bin)
install(TARGETS tfcrt ARCHIVE DESTINATION lib)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/tfc.h DESTINATION include)
if(TARGET tfcmpi)
  install(TARGETS tfcmpi LIBRARY DESTINATION lib)
  install(FILES ${PROJECT_SOURCE_DIR}/runtime/mpi/tfc_mpi.h DESTINATION include)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/frontend/flatbuffer/Graph.fbs DESTINATION share/tfc)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tfc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/tfc-config.cmake
              ${PROJECT_BINARY_DIR}/tfc-config-version.cmake
  DESTINATION lib/cmake/tfc)
