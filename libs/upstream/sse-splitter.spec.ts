import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { SseSplitter } from './sse-splitter.js';

function split(chunks: Buffer[]) {
  const splitter = new SseSplitter();
  const events = chunks.flatMap((chunk) => splitter.push(chunk));
  return { events, rest: splitter.rest() };
}

const shown = (text: string) => split([Buffer.from(text)]).events.map(({ event, data }) => [event, data]);

describe('events of a stream', () => {
  it.each<[string, string, [string | null, string | null][]]>([
    [
      'LF',
      'data: a\n\ndata: b\n\n',
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    [
      'CRLF',
      'event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n',
      [
        ['x', 'a'],
        [null, 'b'],
      ],
    ],
    [
      'CR',
      'data: a\r\rdata: b\r\r',
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    [
      'mixed ends',
      'data: a\r\n\ndata: b\n\r\n',
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    ['several data lines', 'data: a\ndata:  b\ndata\n\n', [[null, 'a\n b\n']]],
    ['no space', 'data:{"a":1}\n\n', [[null, '{"a":1}']]],
    [
      'comments',
      ': keep-alive\n\n: x\ndata: a\n\n',
      [
        [null, null],
        [null, 'a'],
      ],
    ],
    ['blank lines before', '\n\r\n\ndata: a\n\n', [[null, 'a']]],
    ['other fields', 'id: 1\nretry: 5\ndatax: no\ndata: a\n\n', [[null, 'a']]],
  ])('with %s', (_name, text, events) => {
    expect(shown(text)).toEqual(events);
  });

  it('are passed on as soon as their blank line is there', () => {
    const splitter = new SseSplitter();
    expect(splitter.push(Buffer.from('data: a\r\n\r'))).toHaveLength(1);
    expect(splitter.push(Buffer.from('\ndata: b\n'))).toEqual([]);
    expect(splitter.push(Buffer.from('\n'))).toMatchObject([{ data: 'b' }]);
  });

  it('leave what was cut off as the rest', () => {
    const { events, rest } = split([Buffer.from('data: a\n\ndata: b')]);
    expect(events).toHaveLength(1);
    expect(rest.toString()).toBe('data: b');
  });

  it('are the same however the bytes are cut, and no byte is lost', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    const line = fc.constantFrom(
      'data: grüße 😀',
      'data: {"x":"é"}',
      'event: delta',
      ': ping',
      '',
      'data:',
      'x',
    );
    const text = fc.array(fc.tuple(line, ends)).map((lines) => lines.flat().join(''));
    const cuts = fc.array(fc.nat({ max: 200 }));
    fc.assert(
      fc.property(text, cuts, (stream, at) => {
        const bytes = Buffer.from(stream);
        const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        const whole = split([bytes]);
        const pieces = split(chunks);
        const texts = (result: typeof whole) => result.events.map(({ event, data }) => [event, data]);
        expect(texts(pieces)).toEqual(texts(whole));
        expect(Buffer.concat([...pieces.events.map(({ raw }) => raw), pieces.rest]).equals(bytes)).toBe(true);
      }),
    );
  });

  it('that are too long pass in pieces, and the next one is read again', () => {
    const splitter = new SseSplitter();
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    const events = [
      Buffer.from('data: '),
      ...Array<Buffer>(20).fill(megabyte),
      Buffer.from('\n\ndata: b\n\n'),
    ].flatMap((chunk) => splitter.push(chunk));
    expect(events.map(({ data }) => data)).toEqual([null, null, 'b']);
    expect(events.reduce((sum, { raw }) => sum + raw.length, 0)).toBe(20 * megabyte.length + 6 + 2 + 9);
  });
});
