# What `find_package(tfc)` finds: in an installation, or in the build folder by -Dtfc_DIR=build.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(TFC_PACKAGE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/tfc")
set(TFC_PACKAGE_VALUES TFC_PROGRAM TFC_RUNTIME TFC_INCLUDE)

# tfc looks for its runtime in lib/ beside its own folder.
set(TFC_PROGRAM "${CMAKE_INSTALL_BINDIR}/tfc")
set(TFC_RUNTIME "lib/libtfcrt.a")
set(TFC_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tfcConfig.cmake.in ${PROJECT_BINARY_DIR}/package/tfcConfig.cmake
  INSTALL_DESTINATION ${TFC_PACKAGE_FOLDER} PATH_VARS ${TFC_PACKAGE_VALUES})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/tfcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS tfc RUNTIME)
install(TARGETS tfcrt ARCHIVE DESTINATION lib)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/tfc.h TYPE INCLUDE)
install(
  FILES ${PROJECT_BINARY_DIR}/package/tfcConfig.cmake
        ${PROJECT_BINARY_DIR}/package/tfcConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TfcAddModel.cmake
  DESTINATION ${TFC_PACKAGE_FOLDER})

set(TFC_PROGRAM "${PROJECT_BINARY_DIR}/bin/tfc")
set(TFC_RUNTIME "${PROJECT_BINARY_DIR}/lib/libtfcrt.a")
set(TFC_INCLUDE "${PROJECT_SOURCE_DIR}/runtime")
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tfcConfig.cmake.in ${PROJECT_BINARY_DIR}/tfcConfig.cmake
  INSTALL_DESTINATION ${PROJECT_BINARY_DIR} INSTALL_PREFIX ${PROJECT_BINARY_DIR}
  PATH_VARS ${TFC_PACKAGE_VALUES})
file(COPY ${PROJECT_SOURCE_DIR}/cmake/TfcAddModel.cmake DESTINATION ${PROJECT_BINARY_DIR})
