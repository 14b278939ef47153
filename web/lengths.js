// Lengths and areas on a picture whose file says how large a pixel is: picture.pixel_size, in micrometres.

import {decimal, integer} from './numbers.js';

const units = [['m', 1e6], ['mm', 1e3], ['µm', 1], ['nm', 1e-3]];

/** With four digits. */
const number = (value) => (value < 1e4 ? decimal(value, 4) : integer(Number(value.toPrecision(4))));
const inUnit = (micrometres) => units.find(([, size]) => micrometres >= size) ?? units.at(-1);

/** Such as '12.50 × 8.000 µm, 100.0 µm²' for a box; empty without a size of pixels. */
export function physical({pixel_size: size}, [, , w, h]) {
  if (!size) return '';
  const wide = w * size.x, high = h * size.y;
  const [unit, factor] = inUnit(Math.max(wide, high));
  return `${number(wide / factor)} × ${number(high / factor)} ${unit}, ${number((wide * high) / factor ** 2)} ${unit}²`;
}

/** The longest bar of 1, 2 or 5 times a power of ten of at most `most` pixels on the screen: {pixels, text}. `scale`:
 * pixels on the screen of one of the picture's. */
export function scaleBar({pixel_size: size}, scale, most) {
  if (!size) return null;
  const longest = (most / scale) * size.x, power = 10 ** Math.floor(Math.log10(longest));
  const length = power * [5, 2, 1].find((times) => times * power <= longest);
  const [unit, factor] = inUnit(length * (1 + 1e-9));
  return {pixels: (length / size.x) * scale, text: `${Number((length / factor).toPrecision(3))} ${unit}`};
}
