// The algorithms of Chen et al. 2018 on 3 x 2 matrices of 32 x 32.

#include "cases.hpp"
#include "kernels/sat/chen/brlt-scanrow.hpp"
#include "kernels/sat/chen/scanrow-brlt.hpp"
#include "kernels/sat/chen/scanrow-column.hpp"
#include "trace_table.hpp"

namespace areal::simt {
namespace {

constexpr Shape shape{96, 64};

void name_transposed(WarpLog& log, const kernels::TableRequest& request, void* workspace) {
  kernels::Workspace from(workspace);
  name(log, "transposed", kernels::transposed<Sum>(request, from), request.image.width);
}

}  // namespace

void trace_chen() {
  using namespace kernels;
  Logs logs("chen");
  trace_table<ScanRowBrltTwice>(logs, "scanrow-brlt", shape, name_transposed);
  trace_table<BrltScanRowTwice>(logs, "brlt-scanrow", shape, name_transposed);
  trace_table<ScanRowColumn>(logs, "scanrow-column", shape, [](WarpLog&, const TableRequest&, void*) {});
}

}  // namespace areal::simt
