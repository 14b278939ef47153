#pragma once
// What areal_trace can run. Each prints its trace as JSON.

#include <string>

namespace areal::simt {

void trace_bands();
void trace_relay();
void trace_sat(const std::string& id);
void trace_reduce_then_scan();
void trace_kasagi();
void trace_chen();
void trace_nakano();
void trace_nakano_table();
void trace_lee_choe();
void trace_poostchi();

}  // namespace areal::simt
