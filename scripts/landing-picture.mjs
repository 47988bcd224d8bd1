// Draws the landing page's image, apps/console/visitor/landing/lighthouse.avif, the same each time: no vendor's image
// is ours to publish.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { root } from './lib/clone.mjs';

const WIDTH = 960;
const HEIGHT = 640;
const HORIZON = 410;
const SUN = { x: 330, y: 392 };
const LAMP = { x: 704, y: 168 };
const QUALITY = 52;
const FILE = join(root, 'apps/console/visitor/landing/lighthouse.avif');

const canvas = createCanvas(WIDTH, HEIGHT);
const context = canvas.getContext('2d');

/** Numbers from 0 to 1 that look random but are the same each time (mulberry32). */
let seed = 20;
function chance() {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

function gradient(from, to, stops) {
  const made = context.createLinearGradient(...from, ...to);
  stops.forEach(([at, colour]) => made.addColorStop(at, colour));
  return made;
}

function glow({ x, y }, radius, stops) {
  const made = context.createRadialGradient(x, y, 0, x, y, radius);
  stops.forEach(([at, colour]) => made.addColorStop(at, colour));
  context.fillStyle = made;
  context.fillRect(0, 0, WIDTH, HEIGHT);
}

function shape(points, fill) {
  context.beginPath();
  points.forEach(([x, y], index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.fillStyle = fill;
  context.fill();
}

function sky() {
  const stops = [
    [0, '#141a3d'],
    [0.34, '#3a2c66'],
    [0.6, '#8a3f74'],
    [0.8, '#dd6a5c'],
    [0.93, '#f7a65b'],
    [1, '#fdd08a'],
  ];
  context.fillStyle = gradient([0, 0], [0, HORIZON], stops);
  context.fillRect(0, 0, WIDTH, HORIZON);
  for (let star = 0; star < 110; star += 1) {
    const y = chance() ** 1.6 * 240;
    context.fillStyle = `rgba(255, 244, 225, ${((1 - y / 260) * (0.25 + chance() * 0.65)).toFixed(3)})`;
    context.beginPath();
    context.arc(chance() * WIDTH, y, 0.5 + chance() * 1, 0, Math.PI * 2);
    context.fill();
  }
}

function clouds() {
  for (let cloud = 0; cloud < 26; cloud += 1) {
    const y = 215 + chance() * 165;
    const width = 90 + chance() * 330;
    const warm = (y - 200) / 190;
    const colour = `rgba(${Math.round(120 + warm * 130)}, ${Math.round(62 + warm * 74)}, ${Math.round(118 - warm * 22)}, 0.26)`;
    context.fillStyle = colour;
    context.beginPath();
    context.ellipse(chance() * WIDTH, y, width / 2, 3 + chance() * 9, 0, 0, Math.PI * 2);
    context.fill();
  }
}

function hills() {
  const ridge = (base, height, colour, step) => {
    const points = [[0, HORIZON + 2]];
    for (let x = 0; x <= WIDTH; x += step) points.push([x, base - chance() * height]);
    points.push([WIDTH, HORIZON + 2]);
    shape(points, colour);
  };
  ridge(HORIZON - 6, 22, '#7a3a67', 46);
  ridge(HORIZON - 1, 12, '#4c2a55', 30);
}

function sea() {
  const stops = [
    [0, '#f0a060'],
    [0.06, '#b85a66'],
    [0.3, '#583162'],
    [1, '#10142f'],
  ];
  context.fillStyle = gradient([0, HORIZON], [0, HEIGHT], stops);
  context.fillRect(0, HORIZON, WIDTH, HEIGHT - HORIZON);
  for (let wave = 0; wave < 520; wave += 1) {
    const depth = chance() ** 1.5;
    const y = HORIZON + 3 + depth * (HEIGHT - HORIZON);
    const spread = 26 + depth * 190;
    const x = SUN.x + (chance() + chance() - 1) * spread * 1.5;
    context.fillStyle = `rgba(255, ${Math.round(205 - depth * 60)}, ${Math.round(130 - depth * 20)}, ${(0.5 - depth * 0.36).toFixed(3)})`;
    context.fillRect(x, y, 10 + depth * 52 * chance(), 1 + depth * 2);
  }
  for (let wave = 0; wave < 300; wave += 1) {
    const depth = chance();
    const y = HORIZON + 6 + depth * (HEIGHT - HORIZON);
    context.fillStyle = chance() > 0.5 ? 'rgba(10, 12, 34, 0.28)' : 'rgba(190, 120, 150, 0.12)';
    context.fillRect(chance() * WIDTH, y, 24 + depth * 90, 1 + depth * 2);
  }
}

function beam() {
  const reach = (to, alpha) => {
    const stops = [
      [0, `rgba(255, 240, 190, ${alpha})`],
      [1, 'rgba(255, 240, 190, 0)'],
    ];
    shape(
      [
        [LAMP.x, LAMP.y - 5],
        [to.x, to.y - to.half],
        [to.x, to.y + to.half],
        [LAMP.x, LAMP.y + 5],
      ],
      gradient([LAMP.x, LAMP.y], [to.x, to.y], stops),
    );
  };
  reach({ x: -40, y: 96, half: 84 }, 0.62);
  reach({ x: -40, y: 96, half: 40 }, 0.36);
  reach({ x: 1010, y: 196, half: 44 }, 0.34);
}

function cliff() {
  const back = [
    [520, 470],
    [556, 438],
    [600, 424],
    [632, 396],
    [668, 384],
    [742, 380],
    [790, 392],
    [846, 386],
    [902, 404],
    [960, 398],
    [960, 640],
    [470, 640],
    [498, 520],
  ];
  shape(
    back,
    gradient(
      [520, 380],
      [960, 640],
      [
        [0, '#3b2147'],
        [0.4, '#221733'],
        [1, '#0c0d20'],
      ],
    ),
  );
  shape(
    [
      [520, 470],
      [556, 438],
      [600, 424],
      [632, 396],
      [668, 384],
      [640, 420],
      [604, 452],
      [566, 486],
      [536, 560],
      [498, 520],
    ],
    'rgba(226, 116, 96, 0.34)',
  );
  shape(
    [
      [0, 596],
      [70, 570],
      [128, 584],
      [196, 608],
      [262, 640],
      [0, 640],
    ],
    '#0b0c1e',
  );
}

function tower() {
  const sides = (y) => {
    const half = 22 + ((y - 196) / 190) * 13;
    return [LAMP.x - half, LAMP.x + half];
  };
  const band = (from, to, fill) => {
    const [left, right] = sides(from);
    const [lowLeft, lowRight] = sides(to);
    shape(
      [
        [left, from],
        [right, from],
        [lowRight, to],
        [lowLeft, to],
      ],
      fill,
    );
  };
  const lit = (light, dark) =>
    gradient(
      [668, 0],
      [742, 0],
      [
        [0, light],
        [0.5, dark],
        [1, '#3d2a4a'],
      ],
    );
  for (let part = 0; part < 5; part += 1)
    band(
      196 + part * 38,
      234 + part * 38,
      part % 2 === 0 ? lit('#ffe3cf', '#cfa5ae') : lit('#d8504f', '#8c3050'),
    );
  context.fillStyle = '#241833';
  context.fillRect(672, 188, 64, 9);
  context.fillRect(684, 148, 40, 4);
  for (const x of [674, 688, 702, 716, 730]) context.fillRect(x, 176, 2, 13);
  context.fillRect(672, 175, 64, 2);
  context.fillStyle = '#ffe9b0';
  context.fillRect(690, 152, 28, 36);
  context.fillStyle = '#241833';
  for (const x of [688, 703, 718]) context.fillRect(x, 150, 2, 38);
  shape(
    [
      [682, 149],
      [726, 149],
      [704, 124],
    ],
    '#8c3050',
  );
  context.fillRect(703, 112, 2, 14);
  for (const y of [252, 330]) {
    context.fillStyle = '#2b1a38';
    context.fillRect(699, y, 9, 16);
  }
  shape(
    [
      [752, 384],
      [752, 352],
      [786, 332],
      [820, 352],
      [820, 386],
    ],
    '#2a1a3a',
  );
  shape(
    [
      [746, 354],
      [786, 328],
      [826, 354],
    ],
    '#6b2a4a',
  );
  context.fillStyle = '#ffc873';
  context.fillRect(764, 360, 9, 11);
  context.fillRect(798, 360, 9, 11);
}

/** Film grain. Without it, large areas look drawn. */
function grain() {
  const image = context.getImageData(0, 0, WIDTH, HEIGHT);
  for (let at = 0; at < image.data.length; at += 4) {
    const noise = (chance() - 0.5) * 7;
    for (let channel = 0; channel < 3; channel += 1) image.data[at + channel] += noise;
  }
  context.putImageData(image, 0, 0);
}

sky();
clouds();
glow(SUN, 330, [
  [0, 'rgba(255, 226, 160, 0.95)'],
  [0.1, 'rgba(255, 196, 120, 0.62)'],
  [0.45, 'rgba(247, 130, 90, 0.22)'],
  [1, 'rgba(247, 130, 90, 0)'],
]);
context.fillStyle = '#fff2cf';
context.beginPath();
context.arc(SUN.x, SUN.y, 34, 0, Math.PI * 2);
context.fill();
hills();
sea();
beam();
cliff();
tower();
glow(LAMP, 120, [
  [0, 'rgba(255, 246, 214, 0.95)'],
  [0.12, 'rgba(255, 232, 170, 0.6)'],
  [0.5, 'rgba(255, 214, 140, 0.14)'],
  [1, 'rgba(255, 214, 140, 0)'],
]);
glow({ x: 480, y: 330 }, 760, [
  [0, 'rgba(8, 8, 24, 0)'],
  [0.62, 'rgba(8, 8, 24, 0)'],
  [1, 'rgba(8, 8, 24, 0.5)'],
]);
grain();
writeFileSync(FILE, await canvas.encode('avif', { quality: QUALITY, speed: 1 }));
