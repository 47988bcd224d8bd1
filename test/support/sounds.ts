const RATE = 8_000;
const BYTES_PER_SAMPLE = 2;

/** Silence as a WAV file: 16 bits, one channel, 8,000 samples per second. */
export function silentWav(seconds: number): Buffer {
  const bytes = Math.round(seconds * RATE) * BYTES_PER_SAMPLE;
  return Buffer.concat([wavHead({ rate: RATE, bits: 16, bytes }), Buffer.alloc(bytes)]);
}

/** The header of a WAV file with one channel. `bytes` is the length that it declares. */
export function wavHead({ rate, bits, bytes }: { rate: number; bits: number; bytes: number }): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE((36 + bytes) % 2 ** 32, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * bits) / 8, 28);
  head.writeUInt16LE(bits / 8, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(bytes, 40);
  return head;
}

/** Silence as MP3 frames with 128 kbit/s at 44,100 samples per second: each has 1,152 samples in 417 bytes. */
export function silentMp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb90c4);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
}

/** A form with a file and text fields. A field with several values is repeated for each. */
export function soundForm(sound: Buffer, fields: Record<string, string | string[]>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value].flat()) form.append(name, each);
  }
  form.set('file', new Blob([new Uint8Array(sound)]), '../../speech.exe');
  return form;
}
