import { describe, expect, it } from 'vitest';
import { ApiError } from '#platform/errors.js';
import { FILE_PART, type FormEntry } from '../http/multipart-body.js';
import { decodeBase64 } from './image.worker.js';
import { timesReading } from '../../../test/support/cpu-time.js';
import { editFields, readFormEdit, readJsonEdit } from './image-request.js';

const COMMON = { model: 'vendora-imagine-edit', prompt: 'make it night' };
const PNG = Buffer.from('89504e470d0a1a0a00', 'hex');
const B64 = PNG.toString('base64');
const DATA_URL = `data:image/png;base64,${B64}`;
const ADDRESS = 'https://example.com/a.png';

const field = (name: string, value: unknown): FormEntry => [name, value, null];
const file = (name: string, bytes = PNG): FormEntry => [
  name,
  FILE_PART,
  { pieces: [bytes], name: '../a.png' },
];
const form = (...inputs: FormEntry[]) => [...Object.entries(COMMON).map(([n, v]) => field(n, v)), ...inputs];

const readEntries = (entries: FormEntry[]) => readFormEdit(entries, editFields(entries));

/** What was read of an image: its text or its bytes in hexadecimal. */
function seen(images: ReturnType<typeof readJsonEdit>['inputs']['images']): string[] {
  return images.map((image) => {
    if (image.kind === 'address') return image.url.href;
    const { encoding, isEscaped, pieces } = image;
    const all = Buffer.concat([...pieces]);
    expect(isEscaped).toBe(false);
    return (encoding === 'bytes' ? all : decodeBase64(all.toString()))?.toString('hex') ?? 'no base64';
  });
}

function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('the images of an edit in JSON', () => {
  it.each<[string, object, string[]]>([
    ['a data URL', { image: DATA_URL }, [PNG.toString('hex')]],
    ['base64', { image: B64 }, [PNG.toString('hex')]],
    [
      'base64 in lines, unpadded',
      { image: `${B64.slice(0, 4)}\n${B64.slice(4)}`.replace(/=+$/, '') },
      [PNG.toString('hex')],
    ],
    ['an address', { image: ADDRESS }, [ADDRESS]],
    ['an object with an address', { image: { url: ADDRESS, type: 'image_url' } }, [ADDRESS]],
    ['an object with a data URL', { image: { url: DATA_URL } }, [PNG.toString('hex')]],
    ['image_url', { image: { image_url: ADDRESS } }, [ADDRESS]],
    ['image_url with an object', { image: { image_url: { url: ADDRESS } } }, [ADDRESS]],
    ['images', { images: [{ url: ADDRESS }, DATA_URL] }, [ADDRESS, PNG.toString('hex')]],
    ['a list under image', { image: [B64, ADDRESS] }, [PNG.toString('hex'), ADDRESS]],
    ['null where there is another', { image: null, images: [B64] }, [PNG.toString('hex')]],
  ])('are read from %s', (_what, inputs, expected) => {
    expect(seen(readJsonEdit({ ...COMMON, ...inputs }).inputs.images)).toEqual(expected);
  });

  it('have both answer formats if none was requested', () => {
    expect(readJsonEdit({ ...COMMON, image: B64 }).format).toBe('both');
    expect(readJsonEdit({ ...COMMON, image: B64, response_format: 'url' }).format).toBe('url');
  });

  it('may come with a mask', () => {
    expect(readJsonEdit({ ...COMMON, image: B64, mask: { url: DATA_URL } }).inputs.mask?.kind).toBe(
      'received',
    );
  });

  it.each<[string, object, string, string]>([
    ['no image', {}, 'missing_required_parameter', 'image'],
    ['an empty list', { images: [] }, 'missing_required_parameter', 'image'],
    ['image and images', { image: B64, images: [B64] }, 'invalid_value', 'images'],
    ['a number', { image: 5 }, 'invalid_type', 'image'],
    ['an object without an image', { image: { type: 'image_url' } }, 'invalid_type', 'image'],
    ['too deep an object', { image: { url: { url: { url: B64 } } } }, 'invalid_type', 'image'],
    ['an invalid address', { image: 'https://' }, 'invalid_image', 'image'],
    ['seventeen', { image: Array<string>(17).fill(B64) }, 'invalid_value', 'image'],
    ['seventeen in a list', { images: Array<string>(17).fill(B64) }, 'invalid_value', 'images'],
    ['two masks', { image: B64, mask: [B64, B64] }, 'invalid_value', 'mask'],
  ])('are refused if there is %s', (_what, inputs, code, param) => {
    expect(refusal(() => readJsonEdit({ ...COMMON, ...inputs }))).toMatchObject({ code, param });
  });

  it.each(['image', 'images', 'mask'])('are not read if there are thousands in %s', (param) => {
    const body = { ...COMMON, image: B64, [param]: Array<string>(50_000).fill('http:a') };
    expect(timesReading(() => refusal(() => readJsonEdit(body)))).toBeLessThan(5);
  });
});

describe('the images of an edit in a form', () => {
  it.each<[string, FormEntry[], string[]]>([
    ['image', [file('image')], [PNG.toString('hex')]],
    ['image[]', [file('image[]'), file('image[]', Buffer.from('aa', 'hex'))], [PNG.toString('hex'), 'aa']],
    [
      'image[0] and image[1]',
      [file('image[0]'), file('image[1]')],
      Array<string>(2).fill(PNG.toString('hex')),
    ],
    ['image, repeated', [file('image'), file('image')], Array<string>(2).fill(PNG.toString('hex'))],
    ['an address as text', [field('image', ADDRESS)], [ADDRESS]],
    ['base64 as text', [field('image[]', B64)], [PNG.toString('hex')]],
  ])('are read from %s', (_what, inputs, expected) => {
    expect(seen(readEntries(form(...inputs)).inputs.images)).toEqual(expected);
  });

  it('come with text fields for numbers and booleans', () => {
    const edit = readEntries(form(file('image'), file('mask'), field('n', '2'), field('stream', 'false')));
    expect(edit).toMatchObject({ count: 2, inputs: { mask: { kind: 'received' } } });
    expect(refusal(() => readEntries(form(file('image'), field('n', 'two')))).code).toBe('invalid_type');
    expect(refusal(() => readEntries(form(file('image'), field('stream', 'yes')))).param).toBe('stream');
    const two = [file('image'), field('n', '2'), field('stream', 'true')];
    expect(refusal(() => readEntries(form(...two))).param).toBe('n');
    expect(refusal(() => readEntries(form(file('image'), field('quality', '')))).param).toBe('quality');
    expect(refusal(() => readEntries(form(file('mask')))).code).toBe('missing_required_parameter');
  });
});
