#pragma once
/// \file areal.hpp All of areal: tables, histograms, regions. The papers' parameters and models are in
/// <areal/research/..>, views of other libraries' memory in <areal/interop/..>.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/cancel.hpp>
#include <areal/catalog.hpp>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/filter.hpp>
#include <areal/histogram.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/info.hpp>
#include <areal/match.hpp>
#include <areal/pieces.hpp>
#include <areal/plan.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sat.hpp>
#include <areal/sat_arguments.hpp>
#include <areal/sat_table.hpp>
#include <areal/scatter.hpp>
#include <areal/sequence.hpp>
#include <areal/span.hpp>
#include <areal/spread.hpp>
#include <areal/strips.hpp>
#include <areal/table.hpp>
#include <areal/tiled.hpp>
#include <areal/track.hpp>
#include <areal/type.hpp>
#include <areal/type_pair.hpp>
#include <areal/version.hpp>
#include <areal/view.hpp>
#include <areal/window.hpp>
