import { deflateSync } from 'node:zlib';
import { pngOf } from './png.js';

const MAGIC = 0x46546c67;
const VERSION = 2;
const JSON_CHUNK = 0x4e4f534a;
const BIN_CHUNK = 0x004e4942;
const FLOAT = 5126;
const UNSIGNED_SHORT = 5123;
const ARRAY_BUFFER = 34962;
const ELEMENT_ARRAY_BUFFER = 34963;
const SIDES = 6;
/** Two triangles on the four corners of a side. */
const SIDE_INDICES = [0, 1, 2, 0, 2, 3];

type Point = [number, number, number];

/** The corners of the six sides of a one-metre cube, each anticlockwise seen from outside, and its direction. */
function cubeSides(): { corners: Point[]; normal: Point }[] {
  const sides: { corners: Point[]; normal: Point }[] = [];
  for (const axis of [0, 1, 2]) {
    for (const sign of [1, -1]) {
      const at = (u: number, v: number): Point => {
        const point: Point = [0, 0, 0];
        point[axis] = sign / 2;
        point[(axis + 1) % 3] = (u * sign) / 2;
        point[(axis + 2) % 3] = v / 2;
        return point;
      };
      const normal: Point = [0, 0, 0];
      normal[axis] = sign;
      sides.push({ corners: [at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)], normal });
    }
  }
  return sides;
}

interface View {
  bytes: Buffer;
  target?: number;
}

/**
 * A cube as a binary glTF file: plain for a draft, textured with an image of `hue` (0 to 360) on each side.
 */
export function cubeGlb(name: string, hue: number | null): Buffer {
  const sides = cubeSides();
  const floats = (values: number[]) => Buffer.from(new Float32Array(values).buffer);
  const indices = sides.flatMap((_, side) => SIDE_INDICES.map((corner) => side * 4 + corner));
  const views: View[] = [
    { bytes: floats(sides.flatMap(({ corners }) => corners.flat())), target: ARRAY_BUFFER },
    {
      bytes: floats(sides.flatMap(({ normal }) => [normal, normal, normal, normal].flat())),
      target: ARRAY_BUFFER,
    },
    { bytes: floats(sides.flatMap(() => [0, 1, 1, 1, 1, 0, 0, 0])), target: ARRAY_BUFFER },
    { bytes: Buffer.from(new Uint16Array(indices).buffer), target: ELEMENT_ARRAY_BUFFER },
    ...(hue === null ? [] : [{ bytes: checkerboard(hue) }]),
  ];
  return pack(
    describe(name, views, hue !== null),
    views.map(({ bytes }) => padded(bytes, 0)),
  );
}

/** The offset of each view in the one buffer, and its length. */
function placed(views: View[]) {
  let byteLength = 0;
  const bufferViews = views.map(({ bytes, target }) => {
    const view = { buffer: 0, byteOffset: byteLength, byteLength: bytes.length, ...(target && { target }) };
    byteLength += bytes.length + padding(bytes.length);
    return view;
  });
  return { bufferViews, byteLength };
}

const vectors = (bufferView: number, type: string) => ({
  bufferView,
  componentType: FLOAT,
  count: SIDES * 4,
  type,
});

const ACCESSORS = [
  { ...vectors(0, 'VEC3'), min: [-0.5, -0.5, -0.5], max: [0.5, 0.5, 0.5] },
  vectors(1, 'VEC3'),
  vectors(2, 'VEC2'),
  { bufferView: 3, componentType: UNSIGNED_SHORT, count: SIDES * SIDE_INDICES.length, type: 'SCALAR' },
];

const TEXTURE = {
  materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 }, metallicFactor: 0 } }],
  textures: [{ source: 0 }],
  images: [{ bufferView: 4, mimeType: 'image/png' }],
};

function describe(name: string, views: View[], isTextured: boolean) {
  const { bufferViews, byteLength } = placed(views);
  return {
    asset: { version: '2.0', generator: 'Tollgate sandbox' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, name }],
    meshes: [
      {
        primitives: [
          {
            attributes: { POSITION: 0, NORMAL: 1, TEXCOORD_0: 2 },
            indices: 3,
            ...(isTextured && { material: 0 }),
          },
        ],
      },
    ],
    accessors: ACCESSORS,
    ...(isTextured && TEXTURE),
    bufferViews,
    buffers: [{ byteLength }],
  };
}

/** 16x16 squares in two shades. */
function checkerboard(hue: number): Buffer {
  const pixel = (x: number, y: number) => shade(hue, (x + y) % 2 === 0 ? 0.9 : 0.5);
  const rows = Array.from({ length: 16 }, (_, y) => [
    0,
    ...Array.from({ length: 16 }, (_unused, x) => pixel(x, y)).flat(),
  ]);
  return pngOf({ width: 16, height: 16, colorType: 2, data: deflateSync(Buffer.from(rows.flat())) });
}

function shade(hue: number, value: number): number[] {
  return [0, 120, 240].map((offset) => {
    const part = 0.5 + 0.5 * Math.cos(((hue - offset) * Math.PI) / 180);
    return Math.round(255 * value * part);
  });
}

function pack(json: object, parts: Buffer[]): Buffer {
  const text = padded(Buffer.from(JSON.stringify(json)), 0x20);
  const binary = Buffer.concat(parts);
  const header = words(MAGIC, VERSION, 12 + 8 + text.length + 8 + binary.length);
  return Buffer.concat([
    header,
    words(text.length, JSON_CHUNK),
    text,
    words(binary.length, BIN_CHUNK),
    binary,
  ]);
}

function words(...values: number[]): Buffer {
  return Buffer.from(new Uint32Array(values).buffer);
}

function padding(length: number): number {
  return (4 - (length % 4)) % 4;
}

function padded(bytes: Buffer, filler: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padding(bytes.length), filler)]);
}
