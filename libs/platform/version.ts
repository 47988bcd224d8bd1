import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of these programs, as package.json says it: that of the sources, or the one that was built beside this. */
export const version: string = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }
).version;
