// Colours of Okabe and Ito, which people with any colour vision tell apart, and dashes for the regions beyond seven.

const colours = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7'];
const inks = ['#000', '#000', '#000', '#000', '#fff', '#000', '#000']; // of text on each, with a contrast of 4.5 or more
const dashes = ['', '8 4', '2 4', '10 3 2 3'];

/** Of the region with that id, from 1 on; 0 and less: of the whole picture and of a new rectangle. */
export function styleOf(id) {
  if (id <= 0) return {colour: '#56b4e9', ink: '#000', dash: id < 0 ? '6 3' : ''};
  const at = (id - 1) % colours.length;
  return {colour: colours[at], ink: inks[at], dash: dashes[Math.floor((id - 1) / colours.length) % dashes.length]};
}
