# The needs of the conformance tests beyond the library: OpenCV's headers and two of its libraries, if present, and the
# comparison with numpy and scikit-image, which skips if those are missing.
find_path(AREAL_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(AREAL_OPENCV_CORE opencv_core)
find_library(AREAL_OPENCV_IMGPROC opencv_imgproc)
if(TARGET peers_opencv_test AND AREAL_OPENCV_INCLUDE AND AREAL_OPENCV_CORE AND AREAL_OPENCV_IMGPROC)
  target_include_directories(peers_opencv_test SYSTEM PRIVATE ${AREAL_OPENCV_INCLUDE})
  target_link_libraries(peers_opencv_test PRIVATE ${AREAL_OPENCV_IMGPROC} ${AREAL_OPENCV_CORE})
  target_compile_definitions(peers_opencv_test PRIVATE AREAL_HAVE_OPENCV)
endif()
if(TEST peers_python_test)
  set_tests_properties(peers_python_test PROPERTIES SKIP_RETURN_CODE 77)
endif()
# Kernels on the simulated machine take long: not under ThreadSanitizer.
foreach(name conformance_reverse_test conformance_device_test conformance_device_carry_test conformance_device_options_test conformance_device_floats_test conformance_papers_test
             conformance_histogram_papers_test conformance_scan_test simt_sat_test simt_region_test simt_region_counts_test simt_histogram_test
             simt_kasagi_test simt_chen_test simt_poostchi_test simt_lee_choe_test simt_nakano_test simt_catalogue_test simt_strips_test)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES LABELS once)
  endif()
endforeach()
