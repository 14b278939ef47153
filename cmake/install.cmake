# `cmake --install`: headers, library, CMake package and pkg-config file. The installed prefix is relocatable.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/areal)
install(TARGETS areal EXPORT areal-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
areal_install_rpath(areal DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/areal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT areal-targets NAMESPACE areal:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/areal-config.cmake.in ${PROJECT_BINARY_DIR}/areal-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/areal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/areal-config.cmake ${PROJECT_BINARY_DIR}/areal-config-version.cmake
        DESTINATION ${package_dir})

# Relative to the .pc file, so that it also works with `cmake --install --prefix`. A static library lists its dependencies.
file(RELATIVE_PATH AREAL_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" AREAL_PC_UP "${AREAL_PC_UP}")
if(AREAL_HAS_PUGIXML)
  set(AREAL_PC_PUGIXML ", pugixml")
endif()
if(BUILD_SHARED_LIBS)
  set(AREAL_PC_REQUIRES Requires.private)
else()
  set(AREAL_PC_REQUIRES Requires)
  if(AREAL_SIMT)
    string(APPEND AREAL_PC_LIBS " -lboost_context")  # which has no .pc of its own
  endif()
  if(AREAL_HAS_CUDA)
    string(APPEND AREAL_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lpthread")
  endif()
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/areal.pc.in ${PROJECT_BINARY_DIR}/areal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/areal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
