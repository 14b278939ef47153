// The histogram of a region, drawn.

import {integer, short} from './numbers.js';

const left = 44, right = 10, top = 8, bottom = 20;

export class Histogram {
  constructor(canvas, reading) {
    Object.assign(this, {canvas, reading, isLog: false, isShare: false, at: null, data: null});
    canvas.addEventListener('pointermove', (event) => {
      this.at = event.offsetX;
      this.draw();
    });
    canvas.addEventListener('pointerleave', () => {
      this.at = null;
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** `data`: {counts, range, colour or null, mean}; null: nothing. */
  show(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const {canvas, data} = this;
    const wide = canvas.clientWidth, high = canvas.clientHeight, ratio = devicePixelRatio;
    if (!wide || !high) return;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const text = style.getPropertyValue('--quiet').trim(), grid = style.getPropertyValue('--line').trim();
    context.font = `11px ${style.fontFamily}`;
    const plot = {x: left, y: top, w: wide - left - right, h: high - top - bottom};
    context.strokeStyle = grid;
    context.beginPath();
    for (const part of [0, 0.5, 1]) {
      const y = Math.round(plot.y + part * plot.h) + 0.5;
      context.moveTo(plot.x, y);
      context.lineTo(plot.x + plot.w, y);
    }
    context.stroke();
    this.reading.textContent = '\u00a0';
    if (!data) return;
    const {counts, range: [lo, hi], colour, mean} = data;
    const most = Math.max(1, ...counts), total = counts.reduce((a, b) => a + b, 0) || 1;
    const height = (count) => (this.isLog ? Math.log1p(count) / Math.log1p(most) : count / most) * plot.h;
    const step = plot.w / counts.length;

    context.fillStyle = colour ?? style.getPropertyValue('--accent').trim();
    context.beginPath();
    context.moveTo(plot.x, plot.y + plot.h);
    counts.forEach((count, i) => {
      const y = plot.y + plot.h - height(count);
      context.lineTo(plot.x + i * step, y);
      context.lineTo(plot.x + (i + 1) * step, y);
    });
    context.lineTo(plot.x + plot.w, plot.y + plot.h);
    context.fill();

    context.fillStyle = text;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const label = (count) => (this.isShare ? `${short((100 * count) / total)} %` : short(Math.round(count)));
    context.fillText(label(most), left - 6, plot.y + 3);
    if (most > 1) context.fillText(label(this.isLog ? Math.expm1(Math.log1p(most) / 2) : most / 2), left - 6, plot.y + plot.h / 2);
    context.fillText('0', left - 6, plot.y + plot.h - 2);
    context.textBaseline = 'alphabetic';
    for (const [part, align] of [[0, 'left'], [0.5, 'center'], [1, 'right']]) {
      context.textAlign = align;
      context.fillText(short(lo + part * (hi - lo)), plot.x + part * plot.w, high - 5);
    }
    if (mean !== null && mean >= lo && mean <= hi) {
      const x = plot.x + ((mean - lo) / (hi - lo)) * plot.w;
      context.fillStyle = style.color;
      context.beginPath();
      context.moveTo(x, plot.y + plot.h - 5);
      context.lineTo(x + 4, plot.y + plot.h + 3);
      context.lineTo(x - 4, plot.y + plot.h + 3);
      context.fill();
    }
    if (this.at === null) return;
    const bin = Math.min(counts.length - 1, Math.max(0, Math.floor((this.at - plot.x) / step)));
    context.fillStyle = style.color;
    context.globalAlpha = 0.25;
    context.fillRect(plot.x + bin * step, plot.y, Math.max(1, step), plot.h);
    context.globalAlpha = 1;
    const edge = (i) => short(lo + (i * (hi - lo)) / counts.length);
    this.reading.textContent = `${edge(bin)} to ${edge(bin + 1)}: ${integer(counts[bin])} px, ${((100 * counts[bin]) / total).toFixed(2)} %`;
  }
}
