#pragma once
/// \file areal.hpp All of areal: tables, histograms, regions.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/catalog.hpp>
#include <areal/device_region.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/lane.hpp>
#include <areal/launch_counts.hpp>
#include <areal/model.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/scan.hpp>
#include <areal/type.hpp>
#include <areal/version.hpp>
#include <areal/view.hpp>
#include <areal/warp_scan.hpp>
