# The page's tests need its command and picture plug-in; one needs a browser. 77: something that they need is not here.
foreach(name view_protocol_test view_page_test)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  endif()
endforeach()
if(TARGET view_picture_test)
  target_link_libraries(view_picture_test PRIVATE areal_view)
endif()
