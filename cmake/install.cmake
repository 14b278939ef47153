# `cmake --install`: headers, library, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)
install(TARGETS areal EXPORT areal-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/areal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT areal-targets NAMESPACE areal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/areal)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/areal-config.cmake.in ${PROJECT_BINARY_DIR}/areal-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/areal)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/areal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/areal-config.cmake ${PROJECT_BINARY_DIR}/areal-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/areal)
configure_file(${PROJECT_SOURCE_DIR}/cmake/areal.pc.in ${PROJECT_BINARY_DIR}/areal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/areal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
