# What `areal bench` checks tensors by is the laboratory's.
if(TARGET bench_tensor_check_test)
  target_sources(bench_tensor_check_test PRIVATE ${PROJECT_SOURCE_DIR}/bench/harness/tensor_check.cpp
                                                 ${PROJECT_SOURCE_DIR}/bench/harness/frame_file.cpp)
endif()
# So is the image of `areal bench spread`.
if(TARGET bench_product_image_test)
  find_package(fmt REQUIRED)
  target_sources(bench_product_image_test PRIVATE ${PROJECT_SOURCE_DIR}/bench/harness/product_image.cpp)
  target_link_libraries(bench_product_image_test PRIVATE fmt::fmt)
endif()
# And its timing.
if(TARGET bench_rounds_test)
  target_sources(bench_rounds_test PRIVATE ${PROJECT_SOURCE_DIR}/bench/harness/measure.cpp)
endif()
