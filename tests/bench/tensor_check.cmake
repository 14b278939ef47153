# What `areal bench` checks tensors by is the command's.
if(TARGET bench_tensor_check_test)
  target_sources(bench_tensor_check_test PRIVATE ${PROJECT_SOURCE_DIR}/apps/areal/bench/tensor_check.cpp
                                                 ${PROJECT_SOURCE_DIR}/apps/areal/bench/frame_file.cpp)
endif()
