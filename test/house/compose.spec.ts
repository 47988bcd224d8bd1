import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

interface Service {
  command?: string[];
  environment?: Record<string, unknown>;
  env_file?: { path: string; required: boolean }[];
  build?: string;
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
const programNames = ['migrate', 'gateway', 'billing', 'control-plane', 'video-worker', 'sandbox'];

/** The ports and volumes of the container say these. */
const FIXED_BY_THE_CONTAINER = new Set([
  'HOST',
  'PORT',
  'CONSOLE_PORT',
  'HEALTH_PORT',
  'STORAGE_DIR',
  'MAIL_DIR',
  'SANDBOX_HOST',
  'SANDBOX_PORT',
  'SANDBOX_STATE_DIR',
]);

/** What the machine sets. */
const NOT_OURS = new Set(['XDG_CACHE_HOME']);

/** Every variable that the sources ask a reader or the environment for. */
function variablesOfTheCode(): Set<string> {
  const found = new Set<string>();
  const asks = /(?:reader\.\w+|port|count|limit|\benv|process\.env)[([]\s*'([A-Z][A-Z0-9_]{2,})'/g;
  for (const file of globSync('{apps,libs}/**/*.ts', {
    cwd: root,
    exclude: (name) => name.endsWith('.spec.ts'),
  })) {
    for (const [, name] of readFileSync(join(root, file), 'utf8').matchAll(asks)) found.add(name!);
  }
  return found;
}

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

  it.each(programNames)('gives %s the program and the variables that it has locally', (name) => {
    const local = programs[name]!;
    const given = Object.keys(services[name]!.environment!);
    const expected = Object.keys(local.environment(place, {}));
    expect(expected.filter((variable) => !given.includes(variable))).toEqual([]);
    expect(services[name]!.command).toEqual(['node', '--enable-source-maps', local.entry]);
  });

  it.each(programNames)('lets every variable be set that the code of %s may read', (name) => {
    const { environment = {}, env_file: files } = services[name]!;
    expect(files).toEqual([`tollgate.env`, `${name}.env`].map((path) => ({ path, required: false })));
    const variables = variablesOfTheCode();
    expect(variables.size).toBeGreaterThan(100);
    // What is not named here comes from the files; what is named must ask for a variable of its own name.
    const fixed = [...variables].filter((variable) => {
      const asked = new RegExp(`\\$\\{(?:(?:GATEWAY|BILLING|WORKER)_)?${variable}:?-`);
      return variable in environment && !asked.test(String(environment[variable]));
    });
    expect(fixed.filter((variable) => !FIXED_BY_THE_CONTAINER.has(variable))).toEqual([]);
  });

  it('lets each secret be left empty, so that a file may hold it', () => {
    const shown = Object.entries(services).flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(
          ([variable]) =>
            programNames.includes(name) && /PASSWORD|SECRET|_KEY$|DATABASE_URL|SMTP_URL/.test(variable),
        )
        .filter(([, value]) => !/^\$\{\w+-.*\}$/.test(String(value)))
        .map(([variable]) => `${name} ${variable}`),
    );
    expect(shown).toEqual([]);
  });

  it('builds the image once, and leaves room for several of a program', () => {
    expect(Object.keys(services).filter((name) => services[name]!.build)).toEqual(['migrate']);
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    expect(text).not.toContain('container_name');
  });

  it('starts every program again that ends, and watches its health', () => {
    for (const [name, service] of Object.entries(services)) {
      const once = name === 'migrate';
      expect([name, service.restart]).toEqual([name, once ? 'on-failure' : 'unless-stopped']);
      expect([name, service.healthcheck?.disable ?? false]).toEqual([name, once]);
    }
  });
});

describe('docs/configuration.md', () => {
  it('names every variable that the code reads', () => {
    const text = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
    const known = [...variablesOfTheCode()].filter((name) => !name.endsWith('_FILE') && !NOT_OURS.has(name));
    expect(known.filter((name) => !text.includes(name))).toEqual([]);
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
