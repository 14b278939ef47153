#pragma once
/// \file areal.hpp All of areal: tables, histograms, regions.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/research/model.hpp>
#include <areal/research/scan.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/sat.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/type.hpp>
#include <areal/type_pair.hpp>
#include <areal/version.hpp>
#include <areal/view.hpp>
#include <areal/window.hpp>
