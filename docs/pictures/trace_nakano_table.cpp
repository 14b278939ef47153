// The table of Nakano 2013 on 16 x 16 elements: tiles of 4 x 4 by 4 lanes, and blocks of 4 threads, so that a row's
// prefix-sums are three launches.

#include "cases.hpp"
#include "kernels/sat/nakano/umm-optimal.hpp"
#include "trace_table.hpp"

namespace areal::simt {

void trace_nakano_table() {
  Logs logs("nakano-table");
  trace_table<kernels::UmmOptimal<4, 4>>(
      logs, "umm-optimal", {16, 16}, [](WarpLog& log, const kernels::TableRequest& request, void* workspace) {
        const std::int64_t width = request.image.width, height = request.image.height;
        kernels::Workspace from(workspace);
        name(log, "transposed", kernels::transposed<Sum>(request, from), width);
        Sum* levels = nullptr;
        from.take(levels, kernels::level_cells(height, width));
        log.name("level", levels, width / 2, height);
      });
}

}  // namespace areal::simt
