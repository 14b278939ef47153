# OpenCV's box filters, where they are.
find_path(AREAL_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(AREAL_OPENCV_CORE opencv_core)
find_library(AREAL_OPENCV_IMGPROC opencv_imgproc)
if(TARGET window_opencv_test AND AREAL_OPENCV_INCLUDE AND AREAL_OPENCV_CORE AND AREAL_OPENCV_IMGPROC)
  target_include_directories(window_opencv_test SYSTEM PRIVATE ${AREAL_OPENCV_INCLUDE})
  target_compile_definitions(window_opencv_test PRIVATE AREAL_HAVE_CV)
  target_link_libraries(window_opencv_test PRIVATE ${AREAL_OPENCV_IMGPROC} ${AREAL_OPENCV_CORE})
endif()
