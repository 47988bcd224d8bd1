import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { JsonBody, WHOLE_BODY_BYTES } from './json-body.js';
import { LongText, writeJson } from './long-text.js';
import { Utf8Check } from './utf8-check.js';

const LIMITS = { depth: 20, elements: 1_000, bytes: 4_000_000, plainBytes: 1_000_000 };

function read(text: string | Buffer, size = 65_536, limits = LIMITS): unknown {
  const body = new JsonBody(limits);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) body.push(bytes.subarray(at, at + size));
  return body.end((all) => JSON.parse(all) as unknown);
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return (error as { code?: string }).code ?? 'another';
  }
  return undefined;
}

/** With every long text as a string again. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const LONG = 'a "quoted" pïece \u{1f3ac} of\ttext\n'.repeat(2_000);

describe('a JSON body', () => {
  it('is read like a parser would, in pieces of any size', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.integer({ min: 1, max: 30 }), (value, size) => {
        const text = JSON.stringify(value);
        // Half a surrogate pair is not valid UTF-8, and JSON.stringify escapes it.
        expect(read(text, size)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps long texts as bytes if the body is long, wherever they are, and writes them unchanged', () => {
    const value = {
      model: 'm',
      messages: [{ content: LONG }, { content: [{ text: LONG.repeat(8) }, 'short', LONG] }],
      [LONG]: 'a long name is no text',
    };
    const text = JSON.stringify(value);
    expect(text.length).toBeGreaterThan(WHOLE_BODY_BYTES);
    for (const size of [1, 1_000, 65_536]) {
      const body = read(text, size) as typeof value;
      const long = body.messages[0]!.content as unknown;
      expect(long).toBeInstanceOf(LongText);
      expect(String(long as LongText)).toBe(LONG);
      expect(plain(body)).toEqual(value);
      const written = writeJson(body);
      if (typeof written === 'string') throw new Error('no long text');
      const bytes = Buffer.concat([...written.pieces]);
      expect(bytes.length).toBe(written.byteLength);
      expect(bytes.toString()).toBe(text);
    }
  });

  it('consists of strings if it is short', () => {
    const value = { prompt: LONG.slice(0, 40_000) };
    expect(read(JSON.stringify(value))).toEqual(value);
  });

  it('writes images as data URLs', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256));
    const written = writeJson({ a: LongText.dataUrl('image/png', bytes), b: 1 });
    if (typeof written === 'string') throw new Error('no long text');
    const all = Buffer.concat([...written.pieces]);
    expect(all.length).toBe(written.byteLength);
    expect(JSON.parse(all.toString())).toEqual({
      a: `data:image/png;base64,${bytes.toString('base64')}`,
      b: 1,
    });
  });

  it.each<[string, string | Buffer, string]>([
    ['too deep', '['.repeat(21), 'invalid_json'],
    ['of too many elements', `[${'1,'.repeat(1_000)}`, 'request_too_large'],
    ['too long', `"${'x'.repeat(LIMITS.bytes)}"`, 'request_too_large'],
    ['too long without its texts', ' '.repeat(LIMITS.plainBytes + 1), 'request_too_large'],
    ['with a text that is none', '{"a":"\\q"}', 'invalid_json'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_request'],
    ['cut within a character', Buffer.from([0x22, 0xe2, 0x82]), 'invalid_request'],
    ['no JSON', '{"a":}', 'another'],
  ])('is refused if it is %s', (_what, text, code) => {
    expect(codeOf(() => read(text))).toBe(code);
    expect(codeOf(() => read(text, 4_001))).toBe(code);
  });
});

it('UTF-8 is recognised in pieces as well as in one', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      fc.integer({ min: 1, max: 5 }),
      (bytes: Buffer, size) => {
        const check = new Utf8Check();
        let isText = true;
        for (let at = 0; at < bytes.length && isText; at += size)
          isText = check.push(bytes.subarray(at, at + size));
        const real = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
        expect(isText && check.end()).toBe(codeOf(() => real.decode(bytes)) === undefined);
      },
    ),
    { numRuns: 2_000 },
  );
});
