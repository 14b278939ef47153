# The page's tests need its command and picture plug-in; some need a browser. 77: something that they need is not here.
foreach(name view_protocol_test view_page_test view_large_test view_large_page_test view_table_test view_demo_test
             view_inputs_test)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
  endif()
endforeach()
foreach(name view_picture_test view_disk_test view_film_test)
  if(TARGET ${name})
    target_link_libraries(${name} PRIVATE areal_view)
  endif()
endforeach()
# What makes the server's time limits short (fast_clock.cpp).
if(TEST view_protocol_test)
  areal_preloaded(fast_clock view/fast_clock.cpp)
endif()
# The stand-in for the verb in a build without it.
if(TARGET view_absent_test)
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)
  target_sources(view_absent_test PRIVATE ${PROJECT_SOURCE_DIR}/apps/areal/view/absent.cpp)
  target_link_libraries(view_absent_test PRIVATE CLI11::CLI11 fmt::fmt)
endif()
