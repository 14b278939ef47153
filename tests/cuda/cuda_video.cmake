# NVDEC's test encodes clips and reads them through the plug-in; areal_clips writes those that `areal bench video` times.
if(TARGET cuda_video_test AND TARGET areal_libav)
  add_dependencies(cuda_video_test areal_video)
  add_executable(areal_clips EXCLUDE_FROM_ALL cuda/clips.cpp)
  target_link_libraries(areal_clips PRIVATE areal areal_files areal_libav GTest::gtest)
  target_include_directories(areal_clips PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/support)
  add_dependencies(areal_clips areal_video)
  areal_warnings(areal_clips)
endif()
