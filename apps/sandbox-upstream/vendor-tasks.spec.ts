import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateAt, type VendorTask, VendorTasks } from './vendor-tasks.js';

function task(id: string, more: Partial<VendorTask> = {}): VendorTask {
  return {
    id,
    model: 'v',
    prompt: 'p',
    faults: [],
    createdAtMs: 1_000,
    workMs: 100,
    spoiledPolls: 0,
    idempotencyKey: null,
    inputHash: 'h',
    ...more,
  };
}

describe('the state of a task', () => {
  it('follows from the clock alone', () => {
    const phases = [900, 1_000, 1_009, 1_010, 1_050, 1_099, 1_100].map((nowMs) => stateAt(task('a'), nowMs));
    expect(phases.map(({ phase }) => phase)).toEqual([
      'queued',
      'queued',
      'queued',
      'working',
      'working',
      'working',
      'completed',
    ]);
    expect(phases.map(({ progress }) => progress)).toEqual([0, 0, 0, 10, 50, 99, 100]);
  });
});

describe('the stored tasks', () => {
  it('are in files that nobody else can read, in a folder that nobody else can enter', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-sandbox-'));
    try {
      chmodSync(folder, 0o755);
      new VendorTasks(folder, '.json').add(task('private'));
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(statSync(join(folder, 'private.json')).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lose the oldest ended one when full, and accept no more if none has ended', () => {
    const tasks = new VendorTasks(undefined, '.json', { maxTasks: 2 });
    tasks.add(task('running', { workMs: 1_000_000 }));
    tasks.add(task('ended', { idempotencyKey: 'k' }));
    tasks.add(task('next', { createdAtMs: 5_000, workMs: 1_000_000 }));
    expect(tasks.list().map(({ id }) => id)).toEqual(['running', 'next']);
    expect(tasks.findByKey('k')).toBeUndefined();
    expect(() => tasks.add(task('more', { createdAtMs: 5_000 }))).toThrow('Too many tasks');
  });
});
