import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder of the code that runs, with its package.json: `dist`, or the repository if the sources run. */
export const codeFolder = folderWithPackage(import.meta.dirname);

/** Where the build puts programs, pages and documentation. */
export const builtFolder = basename(codeFolder) === 'dist' ? codeFolder : join(codeFolder, 'dist');

export const projectFolder = dirname(builtFolder);

/** The program of a worker thread. @param path from the code's folder, without its extension */
export function workerProgram(path: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return pathToFileURL(join(codeFolder, `${path}.${extension}`));
}

/** Built code may run from a bundle, so the depth of this file below that folder is unknown. */
function folderWithPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderWithPackage(dirname(folder));
}
