// Several channels drawn together: each has a colour, and their light is added.

const most = 4;
const colours = ['#00ff00', '#ff00ff', '#00a0ff', '#ffb000'];
const find = (id) => document.getElementById(id);

/** [red, green, blue] from 0 to 1 of '#rrggbb'. */
const lightOf = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);

export class Tints {
  /** `actions`: changed(), problem(sentence). */
  constructor(picture, {changed, problem}) {
    this.rows = [];
    if (picture.channels.length < 2 || picture.colour !== null) return;
    find('tints').hidden = false;
    find('tints-on').addEventListener('change', () => {
      find('tint-rows').disabled = !this.on;
      changed();
    });
    picture.channels.forEach((name, channel) => {
      const row = document.createElement('div'), label = document.createElement('label');
      const check = document.createElement('input'), colour = document.createElement('input');
      check.type = 'checkbox';
      check.checked = channel < most;
      check.addEventListener('change', () => {
        const drawn = this.rows.filter((one) => one.check.checked).length;
        if (drawn === 0 || drawn > most) {
          check.checked = !check.checked;
          return problem(drawn ? 'Up to four channels are drawn together.' : 'One channel at least is drawn.');
        }
        changed();
      });
      colour.type = 'color';
      colour.value = colours[channel % colours.length];
      colour.setAttribute('aria-label', `Colour of ${name}`);
      colour.addEventListener('input', changed);
      label.append(check, name);
      row.append(label, colour);
      find('tint-rows').append(row);
      this.rows.push({channel, check, colour});
    });
  }

  get on() {
    return find('tints-on').checked;
  }
  /** The channels that are drawn together, {channel, tint}; null: one channel is drawn. */
  parts() {
    if (!this.on) return null;
    return this.rows.filter(({check}) => check.checked).map(({channel, colour}) => ({channel, tint: lightOf(colour.value)}));
  }
}
