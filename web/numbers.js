// Numbers as text: integers grouped by thin spaces, floats with six digits.

const thin = '\u2009';
export const none = '—';

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, thin);

/** An integer, as a number or as text of any length. */
export function integer(value) {
  if (value === null || value === undefined) return none;
  const text = String(value);
  return text.startsWith('-') ? '−' + grouped(text.slice(1)) : grouped(text);
}

export function decimal(value, digits = 6) {
  if (value === null || value === undefined) return none;
  const number = Number(value);
  if (!Number.isFinite(number)) return none;
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    const [factor, power] = number.toExponential(digits - 1).split('e');
    return `${factor.replace('-', '−')}e${power.replace('+', '').replace('-', '−')}`;
  }
  const text = size >= 1e6 ? size.toFixed(1) : size.toPrecision(digits);
  const [whole, fraction] = text.split('.');
  return (number < 0 ? '−' : '') + grouped(whole) + (fraction ? '.' + fraction : '');
}

/** A statistic as a server sends it: text, a number or null. */
export function either(value) {
  if (value === null || value === undefined) return none;
  return /^-?\d+$/.test(String(value)) ? integer(value) : decimal(value);
}

/** Where bin `i` of `bins` over a range begins; of `bins` itself, where the last one ends. */
export const edgeOf = ([low, high], bins, i) => (i === bins ? high : low + (i * (high - low)) / bins);

/** Few digits, for axes. */
export function short(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return integer(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(1).replace('e+', 'e').replace(/-/g, '−');
  const rounded = Number(value.toPrecision(4));
  return Number.isInteger(rounded) ? integer(rounded) : String(rounded).replace('-', '−');
}
