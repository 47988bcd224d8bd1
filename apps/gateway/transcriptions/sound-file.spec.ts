import { describe, expect, it } from '@jest/globals';
import { silentMp3, silentWav, wavHead } from '../../../test/support/sounds.js';
import { soundOf } from './sound-file.js';

const MB = 1024 * 1024;

/** As a form has it, in pieces that cut through its heads. */
function read(bytes: Buffer) {
  const pieces = [bytes.subarray(0, 10), bytes.subarray(10, 50), bytes.subarray(50)];
  return soundOf([['file', null, { pieces, name: 'x' }]]).seconds;
}

const m4a = (bytes: number) => Buffer.concat([Buffer.from('\0\0\0\x20ftypM4A '), Buffer.alloc(bytes - 12)]);

describe('the length of a sound', () => {
  it.each<[string, Buffer, number]>([
    ['a WAV file', silentWav(3.2), 4],
    [
      'one whose head says that it has no samples',
      Buffer.concat([wavHead({ rate: 8_000, bits: 16, bytes: 0 }), Buffer.alloc(32_000)]),
      2,
    ],
    [
      'one whose head says that it never ends',
      Buffer.concat([wavHead({ rate: 8_000, bits: 16, bytes: 2 ** 32 - 1 }), Buffer.alloc(32_000)]),
      2,
    ],
    [
      'one of few samples a second',
      Buffer.concat([wavHead({ rate: 10, bits: 8, bytes: 0 }), Buffer.alloc(5_000)]),
      500,
    ],
    ['an MP3 file of 10 seconds', silentMp3(383), 11],
    [
      'one behind a tag',
      Buffer.concat([
        Buffer.from('ID3\x04\0\0\0\0\x10\0', 'latin1'),
        Buffer.alloc(2_048, 0xff),
        silentMp3(383),
      ]),
      11,
    ],
    [
      'one with something else in its middle',
      Buffer.concat([silentMp3(200), Buffer.alloc(3_000), silentMp3(183)]),
      11,
    ],
  ])('is counted: %s', (_what, bytes, seconds) => {
    expect(read(bytes)).toMatchObject({
      likely: BigInt(seconds),
      most: BigInt(seconds + 1),
      isMeasured: true,
    });
  });

  it.each<[string, Buffer]>([
    ['an M4A file', m4a(75_000)],
    ['an MP3 file that is none behind its head', Buffer.concat([silentMp3(1), Buffer.alloc(74_583)])],
    [
      'a tag that is longer than its file',
      Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), Buffer.alloc(74_990)]),
    ],
    ['a compressed WAV file', compressed(75_000)],
  ])('follows from the size of its file where it cannot be: %s', (_what, bytes) => {
    expect(read(bytes)).toMatchObject({ most: 100n, likely: 10n, isMeasured: false });
  });

  it('is at least a second', () => {
    expect(read(m4a(12))).toMatchObject({ most: 1n, likely: 1n });
  });

  it('is bounded', () => {
    const slow = Buffer.concat([wavHead({ rate: 1, bits: 8, bytes: 0 }), Buffer.alloc(MB)]);
    expect(() => read(slow)).toThrow(/at most 86400 seconds/);
  });

  it('is looked for in no time in bytes that look like frames', () => {
    const startedAt = performance.now();
    expect(read(Buffer.alloc(25 * MB, Buffer.from('fffb00', 'hex')))).toMatchObject({ isMeasured: false });
    read(Buffer.concat([silentMp3(1), Buffer.alloc(25 * MB - 417, Buffer.from('fff31444', 'hex'))]));
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('a file', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a web page', Buffer.from('<!doctype html>')],
    ['AAC without a container', Buffer.from('fff15080', 'hex')],
    ['an AVI film', Buffer.from('RIFF\0\0\0\0AVI ')],
  ])('that is no sound is refused by its bytes: %s', (_what, bytes) => {
    expect(() => read(bytes)).toThrow(/file must be flac, mp3/);
  });

  it('is the one of its name, and the only one', () => {
    const file = { pieces: [silentWav(1)], name: 'a' };
    expect(() => soundOf([])).toThrow(/file is required/);
    expect(() => soundOf([['sound', null, file]])).toThrow(/file is required/);
    expect(() =>
      soundOf([
        ['file', null, file],
        ['other', null, file],
      ]),
    ).toThrow(/only file/);
  });
});

function compressed(bytes: number): Buffer {
  const head = wavHead({ rate: 8_000, bits: 16, bytes });
  head.writeUInt16LE(0x55, 20);
  return Buffer.concat([head, Buffer.alloc(bytes - head.length)]);
}
