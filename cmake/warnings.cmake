# The warnings of all our targets; errors if AREAL_WERROR is set (CI).
function(areal_warnings target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wnon-virtual-dtor>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${AREAL_WERROR}>>:-Werror>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall;-Xcudafe=--diag_suppress=128>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${AREAL_WERROR}>>:-Werror=all-warnings>")
  # g++ 12 wrongly reports overlapping copies in "text" + std::string (GCC's bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
  # No implicit fused multiply-add: results must not depend on the compiler's choices.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endfunction()
