import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../eventually.js';
import { findFaketime } from '../month/clocked-server.js';
import type { Environment } from '../programs.js';
import type { Undo } from './undo.js';

/** HTTP dates have whole seconds, and a busy machine may answer late. */
const ABOUT_S = 600;

/** A clock that can be set while programs use it. */
export class JumpingClock {
  private readonly library = findFaketime();
  private readonly file: string;

  /** @throws Error if libfaketime is not installed */
  constructor(undo: Undo) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'));
    undo.add(async () => rmSync(folder, { recursive: true }));
    this.file = join(folder, 'offset');
    this.write(0);
  }

  /** The environment of programs that use this clock. */
  get environment(): Environment {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Resolves when the programs that use this clock show the new time. */
  async jumpTo(offsetS: number, healthUrls: readonly string[]): Promise<void> {
    this.write(offsetS);
    for (const url of healthUrls) {
      const shows = async () => {
        const { headers } = await fetch(`${url}/health/live`);
        const shownS = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000;
        return Math.abs(shownS - offsetS) < ABOUT_S;
      };
      await until(`a clock that is ${offsetS} s wrong`, () => shows().catch(() => false));
    }
  }

  private write(offsetS: number): void {
    writeFileSync(`${this.file}.new`, `${offsetS < 0 ? '' : '+'}${offsetS}\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}
