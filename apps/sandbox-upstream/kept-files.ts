import { randomUUID } from 'node:crypto';
import type { Fault } from './directives.js';

/** Enough for every test. The oldest is removed first. */
const MAX_FILES = 128;

export interface KeptFile {
  bytes: Buffer;
  expiresAtMs: number;
  /** How its delivery fails, if requested. */
  faults: readonly Fault[];
}

/** Results in memory, at URLs that nobody can guess. A restart loses them. */
export class KeptFiles {
  private readonly files = new Map<string, KeptFile>();

  /** Stores a file. @returns its name in the URL */
  keep(file: KeptFile): string {
    const name = randomUUID();
    this.files.set(name, file);
    const [oldest] = this.files.keys();
    if (this.files.size > MAX_FILES && oldest !== undefined) this.files.delete(oldest);
    return name;
  }

  find(name: string, nowMs: number): KeptFile | undefined {
    const file = this.files.get(name);
    return file && file.expiresAtMs >= nowMs ? file : undefined;
  }

  clear(): void {
    this.files.clear();
  }
}
