import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/free-ports.mjs')).href;

/** Consecutive ports that are free, and stay so until programs of the spec take them. */
export async function freePorts(count: number): Promise<number[]> {
  const script = (await import(SCRIPT)) as { freePorts: typeof freePorts };
  return script.freePorts(count);
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}
