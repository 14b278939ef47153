# Locks of GLib, by which OpenSlide's threads hand files on, are futexes that ThreadSanitizer does not see.
if(TARGET media_slides_test)
  if(TARGET areal_slides AND TARGET areal_pictures AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    add_dependencies(media_slides_test areal_slides areal_pictures)
  else()
    set_target_properties(media_slides_test PROPERTIES EXCLUDE_FROM_ALL TRUE)
    set_tests_properties(media_slides_test PROPERTIES DISABLED TRUE)
  endif()
endif()
