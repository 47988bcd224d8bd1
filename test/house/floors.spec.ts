import { expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * The floors of the house, from the ground up: an import only points down, and never to a room on the same floor. Apps
 * never import each other; standalone hosts them, and the command-line tool, which finds standalone's data, stands on top.
 */
const FLOORS = [
  ['money', 'platform'],
  ['groups', 'topup', 'invites', 'database', 'storage'],
  ['pricing', 'bus', 'identity'],
  ['ledger'],
  ['finance'],
  ['tasks', 'catalog', 'privacy'],
  ['upstream'],
  ['apps/gateway', 'apps/billing', 'apps/video-worker', 'apps/sandbox-upstream', 'apps/console'],
  ['apps/standalone'],
  ['apps/cli'],
];

/** The pure rooms and files import no framework, driver, clock or environment. */
const PURE = [
  /^libs\/(money|groups|pricing|topup|invites)\//,
  /^libs\/ledger\/(charge|batch-plan|announcements)\.ts$/,
  /^libs\/tasks\/task-state\.ts$/,
];
const IMPURE_IMPORT =
  /^(@nestjs|pg$|kafkajs|typeorm|undici|rxjs|node:(?!crypto$)|#platform\/(clock|config|logging)|#database)/;

const root = join(import.meta.dirname, '../..');
const sources = globSync('{apps,libs}/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/\.(spec|fixture)\.ts$/.test(file),
);

function roomOf(file: string): string {
  const [top, room] = file.split('/');
  return top === 'apps' ? `apps/${room}` : String(room);
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] as string);
}

function roomOfImport(file: string, specifier: string): string | null {
  if (specifier.startsWith('#apps/')) return roomOf(specifier.slice(1));
  if (specifier.startsWith('#')) return specifier.slice(1).split('/')[0] as string;
  if (specifier.startsWith('.')) return roomOf(relative(root, join(root, dirname(file), specifier)));
  return null;
}

it('has every source in a room with a floor', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((file) => floorOf(roomOf(file)) < 0)).toEqual([]);
});

it('imports only downwards', () => {
  const wrong = sources.flatMap((file) => {
    const room = roomOf(file);
    return importsOf(file)
      .map((specifier) => ({ file, specifier, to: roomOfImport(file, specifier) }))
      .filter(({ to }) => to !== null && to !== room && floorOf(to) >= floorOf(room))
      .map(({ specifier }) => `${file} imports ${specifier}`);
  });
  expect(wrong).toEqual([]);
});

it('keeps the pure files pure', () => {
  const wrong = sources
    .filter((file) => PURE.some((pattern) => pattern.test(file)))
    .flatMap((file) => [
      ...importsOf(file)
        .filter((specifier) => IMPURE_IMPORT.test(specifier))
        .map((specifier) => `${file} imports ${specifier}`),
      ...(/\bDate\.now\(|\bprocess\.env\b|\bnew Date\(\)/.test(readFileSync(join(root, file), 'utf8'))
        ? [`${file} reads the clock or the environment`]
        : []),
    ]);
  expect(wrong).toEqual([]);
});
