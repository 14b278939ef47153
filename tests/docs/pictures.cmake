# The pictures of the pages in docs: the program that traces the kernels for docs/pictures/draw.py.
if(AREAL_SIMT)
  file(GLOB trace_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/pictures/*.cpp)
  add_executable(areal_trace ${trace_sources})
  target_link_libraries(areal_trace PRIVATE areal)
  target_include_directories(areal_trace PRIVATE ${PROJECT_SOURCE_DIR}/src)
  areal_warnings(areal_trace)
  target_compile_options(areal_trace PRIVATE $<$<CONFIG:Release>:-O1>)  # as the tests
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")  # see src/CMakeLists.txt
    target_compile_options(areal_trace PRIVATE -fno-sanitize=thread)
  endif()
endif()
foreach(name pictures_test ncu_sectors_test)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endforeach()
