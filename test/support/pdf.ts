import { inflateSync } from 'node:zlib';

/** The text of one of our PDFs, in the order of the file. @throws Error if it is not a PDF with a table and an end */
export function textsOfPdf(file: Buffer): string[] {
  const bytes = file.toString('latin1');
  const table = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(bytes)?.[1]);
  if (!bytes.startsWith('%PDF-1.') || !bytes.startsWith('xref', table)) throw new Error('not a whole PDF');
  const streams = [...bytes.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n([\s\S]*?)\nendstream/g)];
  return streams
    .map(([, data]) => inflateSync(Buffer.from(data!, 'latin1')).toString('latin1'))
    .flatMap((content) => [...content.matchAll(/(?:ActualText <(\w+)>>> BDC )?BT\s([\s\S]*?)\sET/g)])
    .map(([, meaning, block]) => (meaning === undefined ? textOf(block!) : utf16(meaning).slice(1)));
}

function textOf(block: string): string {
  const parts = [...block.matchAll(/<([0-9a-f]*)>/gi)].map(([, digits]) => digits).join('');
  return /\/Han /.test(block)
    ? utf16(parts)
    : new TextDecoder('windows-1252').decode(Buffer.from(parts, 'hex'));
}

function utf16(hex: string): string {
  return Buffer.from(hex, 'hex').swap16().toString('utf16le');
}
