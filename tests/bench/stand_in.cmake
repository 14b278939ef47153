# The stand-in for the GPU plug-in of `areal bench`: papers' tables and figures, timed by the counts of the simulated
# machine.
if(AREAL_SIMT AND AREAL_BENCH AND TARGET areal_command)
  add_library(areal_bench_stand_in MODULE bench/stand_in/cuda_bench.cpp)
  set_target_properties(areal_bench_stand_in PROPERTIES PREFIX "" OUTPUT_NAME areal_cuda_bench
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/stand_in)
  target_include_directories(areal_bench_stand_in PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(areal_bench_stand_in PRIVATE areal)
  areal_warnings(areal_bench_stand_in)
  add_dependencies(areal_bench_stand_in areal_lab)  # which bench_papers_test runs on it
  foreach(name IN LISTS test_sources)
    cmake_path(GET name STEM name)
    if(name MATCHES "^command_bench")
      target_compile_definitions(${name} PRIVATE AREAL_BENCH_STAND_IN="${CMAKE_CURRENT_BINARY_DIR}/stand_in")
      add_dependencies(${name} areal_bench_stand_in)
    endif()
  endforeach()
endif()
