import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDatabase } from './database.js';
import type { Rehearsal } from './rehearsal.js';
import type { Undo } from './undo.js';

/** Room for a new installation and its log, and little more. */
const SIZE = '400m';
/** This many calls write more than fits into the free space of the tables' pages. */
const CALLS = 80;

/** The database's disk is full until something else on it is removed. */
export const fullDisk: Rehearsal = {
  name: 'disk',
  fault: "the disk of PostgreSQL's data full, freed later (needs root)",
  isQuick: false,
  prepare: async (undo) => {
    const disk = smallDisk(undo);
    const { env } = await startDatabase(undo, disk);
    const filler = join(disk, 'filler');
    return {
      env,
      hurt: async ({ load }) => {
        fill(filler);
        await load.ended(CALLS);
        rmSync(filler);
        return performance.now();
      },
    };
  },
};

function smallDisk(undo: Undo): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  undo.add(async () => rmSync(folder, { recursive: true }));
  run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tollgate-disk', folder]);
  undo.add(async () => run('umount', [folder]));
  chmodSync(folder, 0o755);
  return folder;
}

function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed, is this root? ${error?.message ?? stderr}`);
}

/** Writes until nothing more fits. */
function fill(file: string): void {
  const open = openSync(file, 'w');
  try {
    for (const bytes of [1 << 20, 1 << 12]) writeAll(open, Buffer.alloc(bytes));
  } finally {
    closeSync(open);
  }
}

function writeAll(open: number, piece: Buffer): void {
  try {
    while (writeSync(open, piece) === piece.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
