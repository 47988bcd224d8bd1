import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { type JsonFault, JsonScanner, type JsonSink } from './json-scanner.js';

/** What the scanner should count, counted in a parser's result. */
function measure(value: unknown, depth = 0): { depth: number; elements: number } {
  if (typeof value !== 'object' || value === null) return { depth, elements: 0 };
  const inner = Object.values(value).map((each) => measure(each, depth + 1));
  const colons = Array.isArray(value) ? 0 : inner.length;
  return {
    depth: Math.max(depth + 1, ...inner.map((each) => each.depth)),
    elements:
      1 + colons + Math.max(0, inner.length - 1) + inner.reduce((sum, each) => sum + each.elements, 0),
  };
}

/** Scans the text in pieces of these sizes, over and over. */
function scan(
  text: string | Buffer,
  limits: { depth: number; elements: number },
  { sizes = [7], sink }: { sizes?: readonly number[]; sink?: JsonSink } = {},
): JsonFault | null {
  const scanner = new JsonScanner(limits, sink);
  const bytes = Buffer.from(text);
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const end = at + (sizes[piece % sizes.length] ?? 1);
    const fault = scanner.push(bytes.subarray(at, end));
    if (fault) return fault;
    at = end;
  }
  return null;
}

const PIECES = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
const written = fc
  .tuple(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe('the JSON scanner', () => {
  it('refuses a well-formed text exactly if it is beyond a limit, however it is cut', () => {
    fc.assert(
      fc.property(written, fc.nat(8), fc.nat(40), PIECES, (text, depth, elements, sizes) => {
        const real = measure(JSON.parse(text));
        const isBeyond = real.depth > depth || real.elements > elements;
        expect(scan(text, { depth, elements }, { sizes }) !== null).toBe(isBeyond);
        expect(scan(text, { depth: real.depth, elements: real.elements }, { sizes })).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('passes on every byte in order, and distinguishes names from values', () => {
    fc.assert(
      fc.property(written, PIECES, (text, sizes) => {
        let all = '';
        let open = '';
        const names: string[] = [];
        const values: string[] = [];
        const sink: JsonSink = {
          plain: (bytes, from, to) => (all += Buffer.from(bytes.subarray(from, to)).toString('latin1')),
          text: (bytes, from, to) => (open += Buffer.from(bytes.subarray(from, to)).toString('latin1')),
          textEnd: (isName) => {
            (isName ? names : values).push(
              JSON.parse(`"${Buffer.from(open, 'latin1').toString()}"`) as string,
            );
            all += open;
            open = '';
          },
        };
        expect(scan(text, { depth: 100, elements: 100_000 }, { sizes, sink })).toBeNull();
        expect(Buffer.from(all, 'latin1').toString()).toBe(text);
        const found = textsOf(JSON.parse(text));
        expect(names.sort()).toEqual(found.names.sort());
        expect(values.sort()).toEqual(found.values.sort());
      }),
      { numRuns: 1_000 },
    );
  });

  it('finds errors in texts that a parser would refuse', () => {
    const limits = { depth: 5, elements: 50 };
    for (const text of ['"\\x"', '"\\u12g4"', '"a\nb"', '["\\u12"]', '"\u0000"'])
      expect(scan(text, limits, { sizes: [1] })).toBe('malformed');
  });

  it('says so at the first excess byte, long before the end', () => {
    const scanner = new JsonScanner({ depth: 100, elements: 1_000 });
    expect(scanner.push(Buffer.from('['.repeat(100)))).toBeNull();
    expect(scanner.push(Buffer.from('['))).toBe('depth');
    expect(new JsonScanner({ depth: 100, elements: 1_000 }).push(Buffer.from('[],'.repeat(501)))).toBe(
      'elements',
    );
  });

  it('survives what is not JSON at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        scan(Buffer.from(bytes), { depth: 3, elements: 10 });
      }),
    );
  });
});

function textsOf(value: unknown): { names: string[]; values: string[] } {
  if (typeof value === 'string') return { names: [], values: [value] };
  if (typeof value !== 'object' || value === null) return { names: [], values: [] };
  const inner = Object.values(value).map(textsOf);
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return {
    names: [...own, ...inner.flatMap(({ names }) => names)],
    values: inner.flatMap(({ values }) => values),
  };
}
