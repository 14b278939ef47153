# OpenCV's headers and its core library, if installed.
find_path(AREAL_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(AREAL_OPENCV_CORE opencv_core)
if(TARGET interop_opencv_test AND AREAL_OPENCV_INCLUDE AND AREAL_OPENCV_CORE)
  target_include_directories(interop_opencv_test SYSTEM PRIVATE ${AREAL_OPENCV_INCLUDE})
  target_link_libraries(interop_opencv_test PRIVATE ${AREAL_OPENCV_CORE})
endif()
