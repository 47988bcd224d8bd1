import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of these programs, as package.json tells it. */
export const version: string = readVersion();

/** This file runs from libs/platform, or from dist/libs/platform. */
function readVersion(): string {
  const file = ['../../package.json', '../../../package.json']
    .map((path) => join(import.meta.dirname, path))
    .find(existsSync);
  if (file === undefined) return 'unknown';
  return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version ?? 'unknown';
}
