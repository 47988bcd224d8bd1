import { expect, it } from 'vitest';
import { Undo } from './undo.js';

/** A start that completes only when the test says so. */
function slow(name: string, log: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    start: () => promise,
    begin: () => resolve(name),
    fail: () => reject(new Error(`no ${name}`)),
    end: async (started: string) => void log.push(started),
  };
}

it('stops what is still starting, in reverse order, and starts nothing more', async () => {
  const log: string[] = [];
  const undo = new Undo();
  const server = slow('server', log);
  undo.add(async () => void log.push('folder'));
  const started = undo.during(server.start, server.end);
  const stopped = undo.stop();
  server.begin();
  await stopped;
  expect(await started).toBe('server');
  expect(log).toEqual(['server', 'folder']);
  await expect(undo.during(async () => log.push('late'), server.end as never)).rejects.toThrow('stopped');
  expect(log).toEqual(['server', 'folder']);
});

it('does not stop what did not start', async () => {
  const log: string[] = [];
  const undo = new Undo();
  const server = slow('server', log);
  const started = undo.during(server.start, server.end);
  server.fail();
  await expect(started).rejects.toThrow('no server');
  await undo.all();
  expect(log).toEqual([]);
});

it('resolves for all callers together', async () => {
  const log: string[] = [];
  const undo = new Undo();
  const server = slow('server', log);
  void undo.during(server.start, server.end);
  const first = undo.all();
  const second = undo.stop().then(() => log.push('exit'));
  server.begin();
  await Promise.all([first, second]);
  expect(log).toEqual(['server', 'exit']);
});
