// Answers about regions of a picture that the page itself holds: only the page in a file counts, all others ask.

/** A plane: {values: a typed array, width, type}. What a server answers about a box of it (docs/view.md, "Messages"). */
export function answerOf(plane, facts, box) {
  const isByte = plane.type === '8u' || plane.type === '8s';
  return isByte ? answerOfBytes(plane, facts, box) : answerOfWide(plane, facts, box);
}

/** Calls `row` with each row of a box. */
function forRows({values, width}, [x, y, w, h], row) {
  for (let v = y; v < y + h; ++v) row(values.subarray(v * width + x, v * width + x + w));
}

/** The bin of a value of [edges[0], last edge], as numpy.histogram counts: the last bin holds its upper edge. */
function binOf(value, edges) {
  const bins = edges.length - 1, lo = edges[0];
  let bin = Math.min(bins - 1, Math.floor(((value - lo) / (edges[bins] - lo)) * bins));
  while (value < edges[bin]) --bin;
  while (bin < bins - 1 && value >= edges[bin + 1]) ++bin;
  return bin;
}

const percents = [1, 50, 99];

/** Interpolated inside a bin; null where values outside the bins leave it open. */
function percentile(counts, edges, percent, under, over) {
  const inside = counts.reduce((a, b) => a + b, 0);
  const rank = (percent * (under + inside + over)) / 100 - under;
  if (inside === 0 || rank < 0 || rank > inside) return null;
  for (let i = 0, below = 0; i < counts.length; below += counts[i++])
    if (counts[i] && below + counts[i] >= rank) return edges[i] + ((rank - below) / counts[i]) * (edges[i + 1] - edges[i]);
  return edges[edges.length - 1];
}

const nullIfNot = (value) => (Number.isFinite(value) ? value : null);

function answerOfBytes(plane, {edges}, box) {
  const first = plane.type === '8s' ? -128 : 0, all = new Array(256).fill(0);
  forRows(plane, box, (row) => {
    for (let i = 0; i < row.length; ++i) ++all[row[i] - first];
  });
  const bins = edges.length - 1, histogram = new Array(bins).fill(0);
  let pixels = 0, sum = 0, under = 0, over = 0, min = null, max = null;
  all.forEach((count, i) => {
    if (!count) return;
    const value = first + i;
    pixels += count;
    sum += count * value;
    min ??= value;
    max = value;
    if (value < edges[0]) under += count;
    else if (value > edges[bins]) over += count;
    else histogram[binOf(value, edges)] += count;
  });
  const mean = sum / pixels;
  const squares = all.reduce((total, count, i) => total + count * (first + i - mean) ** 2, 0);
  const byteEdges = Array.from({length: 257}, (_, i) => first + i);
  return {
    pixels, nan: 0, sum: String(sum), mean: nullIfNot(mean), std: nullIfNot(Math.sqrt(squares / pixels)), min, max,
    percentiles: percents.map((percent) => [percent, percentile(all, byteEdges, percent, 0, 0)]), histogram, under, over,
  };
}

/** Sums without the rounding errors of a running sum (Neumaier 1974). */
class Sum {
  constructor() {
    this.sum = this.lost = 0;
  }
  add(value) {
    const sum = this.sum + value;
    this.lost += Math.abs(this.sum) >= Math.abs(value) ? this.sum - sum + value : value - sum + this.sum;
    this.sum = sum;
  }
  /** Infinities leave no error to add. */
  get value() {
    return Number.isFinite(this.sum) ? this.sum + this.lost : this.sum;
  }
}

// Sums of that many 32-bit integers are exact in a double.
const exactTerms = 1 << 20;

function integerSum(plane, box) {
  let sum = 0n;
  const isBig = plane.values.BYTES_PER_ELEMENT === 8;
  forRows(plane, box, (row) => {
    if (isBig) {
      for (let i = 0; i < row.length; ++i) sum += row[i];
      return;
    }
    for (let from = 0; from < row.length; from += exactTerms) {
      let part = 0;
      for (const value of row.subarray(from, from + exactTerms)) part += value;
      sum += BigInt(part);
    }
  });
  return sum;
}

function answerOfWide(plane, {edges}, box) {
  const bins = edges.length - 1, lo = edges[0], hi = edges[bins], histogram = new Array(bins).fill(0);
  const pixels = box[2] * box[3], isFloat = plane.type.endsWith('f');
  let nan = 0, under = 0, over = 0, min = null, max = null;
  const floats = new Sum();
  forRows(plane, box, (row) => {
    for (let i = 0; i < row.length; ++i) {
      const value = row[i], number = Number(value);
      if (number !== number) {
        ++nan;
        continue;
      }
      if (isFloat) floats.add(number);
      if (min === null || value < min) min = value;
      if (max === null || value > max) max = value;
      if (number < lo) ++under;
      else if (number > hi) ++over;
      else ++histogram[binOf(number, edges)];
    }
  });
  const answer = {
    pixels, nan, sum: null, mean: null, std: null, min: null, max: null,
    percentiles: percents.map((percent) => [percent, percentile(histogram, edges, percent, under, over)]), histogram, under, over,
  };
  if (nan || !pixels) return {...answer, sum: nan ? null : '0'};
  const sum = isFloat ? floats.value : integerSum(plane, box);
  const mean = Number(sum) / pixels, squares = new Sum();
  // Of 64-bit integers the differences to an integer near the mean are exact; it is off by less than one.
  const centre = typeof sum === 'bigint' && plane.values.BYTES_PER_ELEMENT === 8 ? sum / BigInt(pixels) : mean;
  const off = typeof centre === 'bigint' ? Number(sum - centre * BigInt(pixels)) / pixels : 0;
  forRows(plane, box, (row) => {
    for (let i = 0; i < row.length; ++i) squares.add((Number(row[i] - centre) - off) ** 2);
  });
  return {...answer, sum: String(sum).replace('Infinity', 'inf').replace('NaN', 'nan'), mean: nullIfNot(mean), std: nullIfNot(Math.sqrt(squares.value / pixels)), min: extreme(min), max: extreme(max)};
}

/** Integers beyond 2^53 are text. */
function extreme(value) {
  if (typeof value === 'bigint') return BigInt.asIntN(54, value) === value ? Number(value) : String(value);
  return nullIfNot(value);
}

/** The library's seven distances of the shares of two histograms. */
export function distancesOf(a, b) {
  const totalA = a.reduce((x, y) => x + y, 0), totalB = b.reduce((x, y) => x + y, 0);
  if (!totalA !== !totalB)
    return {hellinger: 1, l1: 2, l2: Math.SQRT2, 'chi-square': 2, emd: a.length - 1, intersection: 1, 'kolmogorov-smirnov': 1};
  let roots = 0, l1 = 0, l2 = 0, chi = 0, emd = 0, most = 0, step = 0;
  for (let i = 0; i < a.length; ++i) {
    const p = a[i] / (totalA || 1), q = b[i] / (totalB || 1), d = p - q;
    roots += (Math.sqrt(p) - Math.sqrt(q)) ** 2;
    l1 += Math.abs(d);
    l2 += d * d;
    if (p + q > 0) chi += (d * d) / (p + q);
    if (i === a.length - 1) break; // the cumulative shares end at 1
    step += d;
    emd += Math.abs(step);
    most = Math.max(most, Math.abs(step));
  }
  return {hellinger: Math.sqrt(roots / 2), l1, l2: Math.sqrt(l2), 'chi-square': chi, emd, intersection: l1 / 2, 'kolmogorov-smirnov': most};
}
