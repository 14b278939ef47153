// What a question may have, for the list that the program gives, too.

#include <array>

#include "question.hpp"

namespace doors {
namespace {

constexpr std::array<Field, 31> fields = {{
    {"id", "handed back with the answer"},
    {"door", "a name of this list"},
    {"family", "one of the door's families"},
    {"image", ".npy of (batch, height, width, channels), also (height, width) and (batch, height, width)"},
    {"mask", ".npy of 8u (height, width), for every image alike, or (batch, height, width)"},
    {"weights", ".npy of (height, width) or (batch, height, width)"},
    {"types", "as 8u32u"},
    {"border", "zero, none or exclusive; default zero, of histograms none"},
    {"squares", "no, auto, 32u, 64u, 64f or 32f"},
    {"tilted", "also the tilted table"},
    {"ignore_nan", "as SatOptions::ignore_nan"},
    {"volume", "as SatOptions::volume"},
    {"reverse", "as SatOptions::reverse"},
    {"algorithm", "an id of the catalogue, or auto"},
    {"backend", "cpu, simt, cuda or auto; default cpu"},
    {"threads", "as Execution::threads"},
    {"layout", "planar or interleaved: channels of the image in memory; default interleaved. Of tables see params"},
    {"regions", "of four numbers x, y, width, height; of a volume boxes of six: x, y, z, width, height, depth"},
    {"outside", "error or clip"},
    {"stats", "of sum, squares, mean, variance, std, count, tilted; of windows one, where the window says none"},
    {"binning", "{bins, range}, {edges}, {labels, ignored}, {lookup}, {of_type} or {joint: [..]}"},
    {"clamp", "Binning::clamped"},
    {"window", "{size, anchor, edge, value, stat, type, rounding}"},
    {"params", "see params"},
    {"out", "files of the answer begin with it"},
    {"values", "of scatter: one for each region"},
    {"measure", "of measures: entropy, percentile, median, mode, mean, normalise, or the name of a distance"},
    {"target", "of measures that are distances: one histogram"},
    {"box", "of trackers: where the first frame has it"},
    {"list", "true: names of doors, fields, algorithms"},
    {"self_test", "true: faults are planted, and those that were missed are named"},
}};

constexpr std::array<Field, 54> params = {{
    {"pitch", "input: bytes between rows beyond those of a row"},
    {"offset", "input: bytes by which it begins behind a multiple of 64"},
    {"gap", "input: bytes between planes and between images beyond theirs"},
    {"out_pitch", "output: as pitch"},
    {"out_offset", "output: as offset"},
    {"out_gap", "output: as gap"},
    {"out_layout", "output of windows and scatter: planar or interleaved"},
    {"tables", "layout of tables: planar (default) or interleaved"},
    {"workspace", "own (the plan's) or mine (poisoned, guarded; default)"},
    {"memory", "cuda: host or device (default), of images and outputs"},
    {"ask_from", "cuda: host (default) or device, of regions and answers"},
    {"stream", "cuda: none, legacy (default) or own"},
    {"device", "cuda: number"},
    {"query_backend", "of queries about tables in host memory: cpu, simt or auto"},
    {"by", "all (default): queries take all planes at once; planes: each by itself; one: each region by itself"},
    {"form", "span (default: guarded memory) or vector"},
    {"as", "double: sums of integers as double, too"},
    {"first_invalid", "true: regions that cannot be answered get 0 or NaN, and the answer names the first"},
    {"parallel", "threads that execute one plan at once; default 3"},
    {"strip_rows", "PieceOptions::height of strips"},
    {"strip_memory", "PieceOptions::memory of strips"},
    {"block_rows", "rows of each push; default 3"},
    {"tile", "[width, height] of tiles or pieces"},
    {"order", "forward (default) or backward: of tiles in their row"},
    {"workers", "as workers_named reads it, or a number of CPU workers of a thread each"},
    {"rows", "SpreadOptions::rows"},
    {"band_width", "SpreadOptions::band_width"},
    {"parts", "SpreadOptions::parts"},
    {"group_bins", "bins of a group or slice"},
    {"device_bytes", "PieceOptions::memory of tiles, SequenceOptions::device_bytes"},
    {"piece_bytes", "PieceOptions::piece_bytes"},
    {"slots", "SequenceOptions::slots"},
    {"counter", "of histograms: 16u, 32u, 64u, 32f or 64f"},
    {"from", "of conversions: the border that is computed"},
    {"chunk_tile", "ChunkedWriteOptions::tile"},
    {"chunk_again", "resume or overwrite: the chunked table is written once more"},
    {"write_memory", "ChunkedWriteOptions::memory"},
    {"chunk_memory", "ChunkedReadOptions::memory"},
    {"unchecked", "true: ChunkedReadOptions::checked = false"},
    {"percent", "of percentiles"},
    {"r", "research::SatParameters::r"},
    {"scan", "research::SatParameters::scan"},
    {"kernel_tile", "research::HistogramParameters::tile"},
    {"kernel_threads", "research::HistogramParameters::tile_threads"},
    {"scan_threads", "ScanOptions::threads"},
    {"scan_group", "ScanOptions::group"},
    {"radius", "TrackerOptions::radius"},
    {"scales", "TrackerOptions::scales"},
    {"scale_cost", "TrackerOptions::scale_cost"},
    {"quantile", "TrackerOptions::quantile"},
    {"progress", "true: a progress callback looks at what it is told"},
    {"cancel_after", "calls of the progress callback before it stops the work: Cancelled"},
    {"memory_limit", "HistogramOptions::memory_limit"},
    {"levels", "true: frames of a sequence of 8u hold 255 - v, and levels that say so"},
}};

}  // namespace

std::span<const Field> question_fields() noexcept { return fields; }
std::span<const Field> param_fields() noexcept { return params; }

}  // namespace doors
