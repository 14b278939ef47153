#pragma once
// Products of bytes by warpgroups: 64 rows of 32 unsigned bytes, in shared memory or in registers, times 32 rows of n
// bytes. `scale` 0 sets the sums, 1 adds to them.
#include <cstdint>
#define SUMS_32                                                                                                      \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%" \
  "30,%31}"
#define SUMS_64                                                                                                      \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%" \
  "30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%" \
  "58,%59,%60,%61,%62,%63}"
#define OUT_32(d)                                                                                             \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), \
      "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),  \
      "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), \
      "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
#define OUT_64(d)                                                                                                    \
  OUT_32(d), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), \
      "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]),        \
      "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),        \
      "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
// a, b and scale are the operands after the sums.
#define PRODUCT(name, n, right, count, a, b, scale)                                                                   \
  __device__ __forceinline__ void name(uint32_t(&d)[count], uint64_t x, uint64_t y, int s) {                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " scale                                                            \
                 ", 0;\n"                                                                                             \
                 "wgmma.mma_async.sync.aligned.m64n" n "k32.s32.u8." right " " SUMS_##count ", " a ", " b ", p;\n}\n" \
                 : OUT_##count(d)                                                                                     \
                 : "l"(x), "l"(y), "r"(s));                                                                           \
  }
PRODUCT(mma64, "64", "u8", 32, "%32", "%33", "%34")
PRODUCT(mma64s, "64", "s8", 32, "%32", "%33", "%34")  // right operands are signed
PRODUCT(mma128, "128", "u8", 64, "%64", "%65", "%66")
// The left operand in registers.
__device__ __forceinline__ void mma64r(uint32_t (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 " SUMS_32 ", {%32,%33,%34,%35}, %36, p;\n}\n"
      : OUT_32(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));
}
