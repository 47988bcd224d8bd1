import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

interface Service {
  command?: string[];
  environment?: Record<string, unknown>;
  restart?: string;
  healthcheck?: { disable?: boolean };
  user?: string;
}

interface LocalProgram {
  entry: string;
  environment(place: object, instance: object): Record<string, string>;
}

const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};
let programs: Record<string, LocalProgram>;

/** Only the names of the variables matter here. */
const place = {
  databaseUrl: () => '',
  passwords: {},
  brokers: [],
};

beforeAll(async () => {
  const file = pathToFileURL(join(root, 'scripts/lib/programs.mjs')).href;
  ({ programs } = (await import(file)) as { programs: Record<string, LocalProgram> });
});

describe('docker-compose.yml', () => {
  it('describes the programs that `npm run distributed` runs, beside the broker and the database', () => {
    expect(Object.keys(services).sort()).toEqual([...Object.keys(programs), 'kafka', 'postgres'].sort());
  });

  it.each(['migrate', 'gateway', 'billing', 'video-worker', 'sandbox'])(
    'gives %s the program and the variables that it has locally',
    (name) => {
      const local = programs[name]!;
      expect(Object.keys(services[name]!.environment!).sort()).toEqual(
        Object.keys(local.environment(place, {})).sort(),
      );
      expect(services[name]!.command).toEqual(['node', '--enable-source-maps', local.entry]);
    },
  );

  it('starts every program again that ends, and watches its health', () => {
    for (const [name, service] of Object.entries(services)) {
      const once = name === 'migrate';
      expect([name, service.restart]).toEqual([name, once ? 'on-failure' : 'unless-stopped']);
      expect([name, service.healthcheck?.disable ?? false]).toEqual([name, once]);
    }
  });
});

describe('the Dockerfile', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

  it('ends with an image that runs as an ordinary user and reports its health', () => {
    expect(final).toMatch(/^USER node$/m);
    expect(final).toMatch(/^HEALTHCHECK /m);
  });

  it('copies nothing that is not there', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) =>
      list!.split(' '),
    );
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });
});
