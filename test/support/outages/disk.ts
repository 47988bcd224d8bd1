import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../eventually.js';
import type { Undo } from './undo.js';

/** A limit, not a reservation: only what is written takes memory. */
const SIZE = '8g';

/** A separate disk, in memory, that can become full. Only root may mount it. */
export class Disk {
  private constructor(readonly folder: string) {}

  /** @throws Error if it cannot be mounted */
  static open(undo: Undo): Disk {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
    // Fails while anything is mounted there, instead of emptying it.
    undo.add(async () => rmdirSync(folder));
    mount(['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tollgate-disk', folder]);
    // Files that are still open must not keep it mounted, and its memory in use.
    undo.add(async () => run('umount', ['--lazy', folder]));
    chmodSync(folder, 0o755);
    return new Disk(folder);
  }

  /** Leaves no more room from now on than its files already take. */
  async fill(): Promise<void> {
    await until('a full disk', async () => this.shrink());
  }

  free(): void {
    mount(['-o', `remount,size=${SIZE}`, this.folder]);
  }

  /** @returns false if more was written meanwhile */
  private shrink(): boolean {
    const { bsize, blocks, bfree } = statfsSync(this.folder);
    try {
      mount(['-o', `remount,size=${(blocks - bfree) * bsize}`, this.folder]);
      return true;
    } catch {
      return false;
    }
  }
}

function mount(args: string[]): void {
  run('mount', args);
}

function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed, is this root? ${error?.message ?? stderr.trim()}`);
}
