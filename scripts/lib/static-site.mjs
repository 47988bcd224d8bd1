// Folders of static files that are built once per state of their sources: the console's pages and the documentation.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const STAMP = '.built-from';
const COMPRESSED = /\.(js|css|html|svg|json)$/;
/** Higher qualities take many times as long for two per cent. */
const BROTLI_QUALITY = 9;

/** The state of the sources that a folder was built from, or null. */
export function stampOf(folder) {
  const file = join(folder, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/**
 * Builds a folder unless it exists, or can be copied, in the state of the current sources.
 * @param {{ outDir: string, usual: string, stamp: string }} site `usual`: where an earlier build may be
 * @param {() => Promise<void>} build fills the folder
 */
export async function buildOnce({ outDir, usual, stamp }, build) {
  const before = [outDir, usual].find((folder) => stampOf(folder) === stamp);
  if (before === outDir) return;
  rmSync(outDir, { recursive: true, force: true });
  if (before) {
    cpSync(before, outDir, { recursive: true });
    return;
  }
  await build();
  compress(outDir);
  writeFileSync(join(outDir, STAMP), stamp);
}

/** Writes the compressed forms of each file next to it, to be served as they are. */
function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSED.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}
