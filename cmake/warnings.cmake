# The warnings of every target of ours; errors where AREAL_WERROR is set (CI).
function(areal_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                                           $<$<BOOL:${AREAL_WERROR}>:-Werror>)
  # No fused multiply-add behind our back: results must not depend on what the compiler found.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
endfunction()
