import { parentPort } from 'node:worker_threads';
import { createCanvas, loadImage, type SKRSContext2D } from '@napi-rs/canvas';

/*
 * Draws apart from the thread that serves HTTP. The file imports packages only, so that it can be started as
 * TypeScript (tests) and as built JavaScript alike.
 */

export interface Drawing {
  kind: 'image' | 'movie' | 'edit';
  /** Hexadecimal text that decides colours and shapes. The same seed gives the same drawing. */
  seed: string;
  caption: string;
  width: number;
  height: number;
  /** The length of a movie. 0 for an image. */
  seconds: number;
  /** The image to edit: the bytes of a PNG, JPEG or WebP. A width of 0 keeps its size. */
  original?: Uint8Array;
}

export type DrawingOrder = Drawing & { orderId: number };
export type DrawingResult = { orderId: number; bytes?: Uint8Array; fault?: string };

/** Enough to see movement. Each frame takes about two milliseconds. */
const FRAMES_PER_SECOND = 8;

/** A larger original is scaled down. */
const MAX_SIDE = 2048;

interface Scene {
  hue: number;
  /** Numbers in 0..1 that stay the same in every frame. */
  chance: number[];
  caption: string;
}

type Canvas2D = { context: SKRSContext2D; width: number; height: number };

function sceneOf({ seed, caption }: Drawing): Scene {
  const bytes = Buffer.from(seed, 'hex');
  return { hue: ((bytes[0] ?? 0) * 360) / 256, chance: [...bytes].map((byte) => byte / 255), caption };
}

/** Paints one frame. `moment` runs from 0 to 1. */
function paint(canvas: Canvas2D, scene: Scene, moment: number): void {
  paintSky(canvas, scene);
  paintOrbs(canvas, scene, moment);
  paintHills(canvas, scene, moment);
  paintCaption(canvas, scene.caption);
}

/** The gradient is vertical: with uniform rows, a PNG compresses five times faster than with a diagonal one. */
function paintSky({ context, width, height }: Canvas2D, { hue }: Scene): void {
  const sky = context.createLinearGradient(0, 0, 0, height);
  sky.addColorStop(0, `hsl(${hue}, 55%, 24%)`);
  sky.addColorStop(1, `hsl(${(hue + 50) % 360}, 75%, 72%)`);
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
}

function paintOrbs({ context, width, height }: Canvas2D, { hue, chance }: Scene, moment: number): void {
  for (let orb = 0; orb < 5; orb += 1) {
    const [x = 0, y = 0, size = 0] = chance.slice(1 + orb * 3, 4 + orb * 3);
    const angle = 2 * Math.PI * (moment + x);
    context.fillStyle = `hsl(${(hue + 150 + orb * 22) % 360}, 80%, ${60 + orb * 5}%)`;
    context.beginPath();
    context.arc(
      width * ((x + moment * 0.6) % 1),
      height * (0.15 + 0.4 * y + 0.06 * Math.sin(angle)),
      Math.min(width, height) * (0.04 + 0.1 * size),
      0,
      2 * Math.PI,
    );
    context.fill();
  }
}

function paintHills({ context, width, height }: Canvas2D, { hue, chance }: Scene, moment: number): void {
  for (let ridge = 0; ridge < 3; ridge += 1) {
    const phase = 2 * Math.PI * ((chance[ridge + 10] ?? 0) + moment * (ridge + 1) * 0.25);
    context.fillStyle = `hsl(${(hue + 20) % 360}, 40%, ${34 - ridge * 9}%)`;
    context.beginPath();
    context.moveTo(0, height);
    for (let step = 0; step <= 32; step += 1) {
      const wave = Math.sin(phase + step * (0.2 + 0.05 * ridge)) * 0.05;
      context.lineTo((width * step) / 32, height * (0.68 + ridge * 0.09 + wave));
    }
    context.lineTo(width, height);
    context.fill();
  }
}

function paintCaption({ context, width, height }: Canvas2D, caption: string): void {
  const size = Math.max(6, Math.round(Math.min(width, height) / 14));
  context.font = `${size}px sans-serif`;
  context.fillStyle = 'white';
  const lines = wrap(context, caption, width * 0.9).slice(0, 4);
  const top = height - size * 1.25 * lines.length;
  lines.forEach((line, index) =>
    context.fillText(line, width * 0.05, top + size * 1.25 * index + size * 0.75),
  );
}

/** Breaks a text at spaces into lines of at most `width` pixels. A longer word gets its own line. */
function wrap(context: SKRSContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function drawImage(drawing: Drawing): Uint8Array {
  const canvas = createCanvas(drawing.width, drawing.height);
  paint({ context: canvas.getContext('2d'), ...sized(drawing) }, sceneOf(drawing), 0);
  return canvas.toBuffer('image/png');
}

/** The original with its colours inverted inside an ellipse in the middle, and the caption. */
async function drawEdit(drawing: Drawing): Promise<Uint8Array> {
  const original = await loadImage(drawing.original ?? new Uint8Array());
  const scale = Math.min(1, MAX_SIDE / Math.max(original.width, original.height));
  const width = drawing.width || Math.max(1, Math.round(original.width * scale));
  const height = drawing.height || Math.max(1, Math.round(original.height * scale));
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.drawImage(original, 0, 0, width, height);
  context.globalCompositeOperation = 'difference';
  context.fillStyle = 'white';
  context.beginPath();
  context.ellipse(width / 2, height / 2, width * 0.35, height * 0.35, 0, 0, 2 * Math.PI);
  context.fill();
  context.globalCompositeOperation = 'source-over';
  paintCaption({ context, width, height }, drawing.caption);
  return canvas.toBuffer('image/png');
}

async function drawMovie(drawing: Drawing): Promise<Uint8Array> {
  const canvas = createCanvas(drawing.width, drawing.height);
  const frame = { context: canvas.getContext('2d'), ...sized(drawing) };
  const scene = sceneOf(drawing);
  // Loaded for the first movie, so that the first image need not wait for it.
  const { default: encoders } = await import('h264-mp4-encoder');
  const encoder = await encoders.createH264MP4Encoder();
  try {
    Object.assign(encoder, { ...sized(drawing), frameRate: FRAMES_PER_SECOND, speed: 10 });
    encoder.quantizationParameter = 30;
    encoder.groupOfPictures = FRAMES_PER_SECOND * 2;
    encoder.initialize();
    const frames = FRAMES_PER_SECOND * drawing.seconds;
    for (let index = 0; index < frames; index += 1) {
      paint(frame, scene, index / frames);
      encoder.addFrameRgba(frame.context.getImageData(0, 0, drawing.width, drawing.height).data);
    }
    encoder.finalize();
    return Uint8Array.from(encoder.FS.readFile(encoder.outputFilename));
  } finally {
    // The files of the encoder live in memory until they are unlinked.
    encoder.FS.unlink(encoder.outputFilename);
    encoder.delete();
  }
}

function sized({ width, height }: Drawing): { width: number; height: number } {
  return { width, height };
}

function draw(order: Drawing): Uint8Array | Promise<Uint8Array> {
  if (order.kind === 'movie') return drawMovie(order);
  return order.kind === 'edit' ? drawEdit(order) : drawImage(order);
}

async function obey(order: DrawingOrder): Promise<DrawingResult> {
  try {
    const bytes = await draw(order);
    return { orderId: order.orderId, bytes };
  } catch (error) {
    return { orderId: order.orderId, fault: String(error) };
  }
}

parentPort?.on('message', (order: DrawingOrder) => {
  void obey(order).then((result) => parentPort?.postMessage(result));
});
