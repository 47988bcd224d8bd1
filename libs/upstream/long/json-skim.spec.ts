import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSkim } from './json-skim.js';

/** Pushes a text, cut at these places. */
function skim(text: string, at: readonly number[] = [], clientsModel: string | null = null) {
  const bytes = Buffer.from(text);
  const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  const skim = new JsonSkim(clientsModel);
  const passed = edges.slice(1).map((end, index) => skim.push(bytes.subarray(edges[index], end)));
  return { skim, passed: Buffer.concat(passed).toString(), kept: skim.skimmed().toString() };
}

const cuts = fc.array(fc.nat({ max: 300 }));

describe('JSON that passes', () => {
  it('passes unchanged and is kept whole while its texts are short, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.json(), cuts, (text, at) => {
        expect(skim(text, at)).toMatchObject({ passed: text, kept: text });
      }),
    );
  });

  it('is kept without its images and sounds, of which a beginning stays readable wherever they are cut', () => {
    const piece = fc.constantFrom('A', '"', '\\', '\u0001');
    const texts = fc.array(piece, { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(texts, cuts, (pieces, at) => {
        const piece = pieces.join('');
        const data = piece.repeat(Math.ceil(140_000 / piece.length));
        const whole = JSON.stringify({ a: [{ data, end: '\\"' }], usage: { tokens: 7 } });
        const { passed, kept } = skim(whole, at);
        expect(passed === whole).toBe(true);
        expect(kept.length).toBeLessThan(66_000);
        const read = JSON.parse(kept) as { a: { data: string }[] };
        expect(read).toMatchObject({ a: [{ end: '\\"' }], usage: { tokens: 7 } });
        expect(data.startsWith(read.a[0]!.data)).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  it.each(['the lighthouse ', '灯塔'])('is kept with all of a long text: %s', (words) => {
    const text = JSON.stringify({ text: words.repeat(100_000) });
    expect(skim(text, [70_000, 100_001]).kept === text).toBe(true);
  });

  it('has the names of its top, and another for its model, wherever it is cut', () => {
    const text =
      '{"model":"theirs","n":[{"model":"x"}],"response":{"model":"theirs","other":{"model":"x"}},"modelVersion":"t\\"h"}';
    const ours = text.replaceAll('"theirs"', '"our\\"s"').replace('"t\\"h"', '"our\\"s"');
    fc.assert(
      fc.property(cuts, (at) => {
        const { skim: read, passed } = skim(text, at, 'our"s');
        expect(passed).toBe(ours);
        expect([...read.topNames]).toEqual(['model', 'n', 'response', 'modelVersion']);
      }),
    );
  });

  it('is refused where there is too much beside them, or it is nested without end', () => {
    const numbers = Buffer.from('1,'.repeat(4_000_000));
    const long = new JsonSkim();
    expect(() => Array.from({ length: 5 }, () => long.push(numbers))).toThrow(/beside images/);
    expect(() => new JsonSkim().push(Buffer.from('['.repeat(2_000)))).toThrow(/too deeply/);
  });
});
