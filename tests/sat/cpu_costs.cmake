# The drivers of `tiles` and `fused`, whose kernels the test stands in for.
target_sources(catalogue_cpu_test PRIVATE ${PROJECT_SOURCE_DIR}/src/cpu/sat/tiles.cpp
                                          ${PROJECT_SOURCE_DIR}/src/cpu/histogram/fused.cpp)
