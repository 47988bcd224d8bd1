import type pg from 'pg';
import { ZipFile } from 'yazl';
import { Readable } from 'node:stream';
import { type ExportSection, exportSections } from './export-sections.js';

/** The data of an account as a zip file of JSON Lines, in pieces. Nothing is held in memory as a whole. */
export async function* archiveOf(pool: pg.Pool, accountId: string): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  zip.addBuffer(Buffer.from(readme()), 'README.txt');
  for (const section of exportSections) {
    // Opened one after the other, when the archive reaches it.
    zip.addReadStreamLazy(`${section.file}.jsonl`, { mode: 0o100644 }, (open) => {
      const lines = Readable.from(linesOf(section, pool, accountId), { objectMode: false });
      // yazl does not listen, and would wait for the rest forever.
      lines.on('error', (error) => zip.emit('error', error));
      open(null, lines);
    });
  }
  zip.end();
  for await (const piece of output) yield piece as Buffer;
}

async function* linesOf(section: ExportSection, pool: pg.Pool, accountId: string): AsyncGenerator<Buffer> {
  for await (const row of section.rows(pool, accountId)) yield Buffer.from(`${JSON.stringify(row)}\n`);
}

function readme(): string {
  const lines = exportSections.map(({ file, about }) => `${file}.jsonl\n  ${about}`);
  return [
    'Your data, one JSON record per line. Amounts are credits as decimal strings, times are UTC.',
    ...lines,
    '',
  ].join('\n');
}
