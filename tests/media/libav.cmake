# Tests that encode their own clips.
foreach(name media_luma_test media_damage_test cuda_video_test)
  if(TARGET ${name} AND TARGET areal_libav)
    target_link_libraries(${name} PRIVATE areal_libav)
  elseif(TARGET ${name})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    set_tests_properties(${name} PROPERTIES DISABLED TRUE)
  endif()
endforeach()
