import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeFolder } from './places.js';

/** The version of these programs from package.json: of the sources, or of the build. */
export const version: string = (
  JSON.parse(readFileSync(join(codeFolder, 'package.json'), 'utf8')) as { version: string }
).version;
