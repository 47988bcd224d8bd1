import { randomUUID } from 'node:crypto';
import type { Fault } from './directives.js';

/** Enough for every test; the oldest goes first. */
const MAX_FILES = 128;

export interface KeptFile {
  bytes: Buffer;
  expiresAtMs: number;
  /** How it is handed out. */
  faults: readonly Fault[];
}

/** Results in memory under addresses that nobody can guess; a restart loses them. */
export class KeptFiles {
  private readonly files = new Map<string, KeptFile>();

  /** The name to ask for it by. */
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
