import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/eventually.js';
import { findFaketime } from '../support/month/clocked-server.js';
import type { Environment } from '../support/programs.js';
import { startDatabase } from './database.js';
import type { Rehearsal } from './rehearsal.js';
import type { Undo } from './undo.js';

const HOUR_S = 3_600;
/** Calls while the clock is off in one direction. */
const CALLS = 24;
/** HTTP dates have whole seconds, and a busy machine may answer late. */
const ABOUT_S = 600;
/** Programs on other machines, whose clock differs from the database's. */
const CLOCKED = ['gateway', 'videoWorker'] as const;

export const clockJumps: Rehearsal = {
  name: 'clock',
  fault:
    'the clock of gateway and video worker an hour ahead, then an hour behind, then right (needs libfaketime)',
  isQuick: true,
  prepare: async (undo) => {
    const clock = new Clock(undo);
    const { env } = await startDatabase(undo, tmpdir());
    return {
      env,
      differing: Object.fromEntries(CLOCKED.map((kind) => [kind, clock.environment])),
      hurt: async ({ relay: { ready }, load }) => {
        const urls = CLOCKED.flatMap((kind) => ready.healthUrls[kind]);
        for (const offsetS of [HOUR_S, -HOUR_S]) {
          await clock.jumpTo(offsetS, urls);
          await load.ended(CALLS);
        }
        await clock.jumpTo(0, urls);
        return performance.now();
      },
    };
  },
};

/** A clock that can be set while programs use it. */
class Clock {
  private readonly file: string;
  private readonly library = findFaketime();

  constructor(undo: Undo) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'));
    undo.add(async () => rmSync(folder, { recursive: true }));
    this.file = join(folder, 'offset');
    this.write(0);
  }

  /** Environment of programs that use it. */
  get environment(): Environment {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Resolves when the programs that use it show it. */
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
