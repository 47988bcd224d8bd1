const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING = [0x7b, 0x5b];
const CLOSING = [0x7d, 0x5d];
const SPACE = [0x20, 0x09, 0x0a, 0x0d];

/** Besides the top level: where events of responses and of messages have their subject. */
const HOLDERS = ['response', 'message'];
/** The second is Google's. */
const NAMES = ['model', 'modelVersion'];

/**
 * The same bytes with the model name replaced in the one place where an answer or event has it. Nothing is parsed and
 * serialized again: every other byte stays as the upstream wrote it.
 */
export function withModel(bytes: Buffer, name: string): Buffer {
  const place = findModel(bytes);
  if (place === null) return bytes;
  const { start, end } = place;
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(JSON.stringify(name)), bytes.subarray(end)]);
}

/** Where the value of `model` is, with its quotes, at the top or in one of these objects; null if nowhere. */
function findModel(bytes: Buffer): { start: number; end: number } | null {
  const first = bytes.indexOf('{');
  let depth = 0;
  let name = '';
  let holder = '';
  for (let at = first; at >= 0 && at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (OPENING.includes(byte)) {
      depth += 1;
      if (depth === 2) holder = name;
    } else if (CLOSING.includes(byte)) {
      depth -= 1;
    } else if (byte === QUOTE) {
      const end = endOfText(bytes, at);
      if (end === -1) return null;
      const isPlace = depth === 1 || (depth === 2 && HOLDERS.includes(holder));
      if (isName(bytes, end)) name = depth <= 2 ? bytes.toString('latin1', at + 1, end - 1) : '';
      else if (isPlace && NAMES.includes(name)) return { start: at, end };
      at = end - 1;
    }
  }
  return null;
}

/** Just after the closing quote of the text that opens at `start`; -1 if there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}

function isName(bytes: Buffer, end: number): boolean {
  let at = end;
  while (SPACE.includes(bytes[at] ?? 0)) at += 1;
  return bytes[at] === COLON;
}
