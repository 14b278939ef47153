# The drivers of `tiles` and `fused`, whose kernels the test stands in for.
target_sources(catalogue_cpu_test PRIVATE ${PROJECT_SOURCE_DIR}/src/cpu/sat/tiles.cpp
                                          ${PROJECT_SOURCE_DIR}/src/cpu/sat/bands.cpp
                                          ${PROJECT_SOURCE_DIR}/src/cpu/histogram/fused.cpp)
if(NOT BUILD_SHARED_LIBS)  # which has the kernels' own, too; the first definition is the test's
  target_link_options(catalogue_cpu_test PRIVATE LINKER:--allow-multiple-definition)
endif()
