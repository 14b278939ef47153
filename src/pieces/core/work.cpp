#include "pieces/core/work.hpp"
#include <areal/catalog.hpp>
#include "api/core/require.hpp"

namespace areal::pieces {

void require_carries(std::string_view family, std::string_view algorithm, const char* made) {
  const Algorithm* const row = find_algorithm(family, algorithm);
  require(row == nullptr || !row->plain_only, "algorithm ", algorithm, " takes no carries, so it makes no ", made,
          "; choose auto");
}

void require_no_bins(const PieceOptions& pieces, const char* made) {
  require(pieces.bins == 0, "bins ", pieces.bins, ": ", made, " have none; they are a tensor's");
}

Piece piece_of(std::int64_t x, std::int64_t y, const std::vector<ConstView>& outputs, bool squares) {
  Piece piece{.x = x, .y = y, .values = outputs[0]};
  if (squares) piece.squares = outputs[1];
  if (outputs.size() > (squares ? 2U : 1U)) piece.count = outputs.back();
  return piece;
}

}  // namespace areal::pieces
