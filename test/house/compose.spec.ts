import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AskedSetting } from '#platform/config.js';
import { passwordOf } from '#platform/settings/setting.js';
import { settingNames } from '#platform/settings/settings.js';

const root = join(import.meta.dirname, '../..');

interface Service {
  command?: string[];
  environment?: Record<string, unknown>;
  env_file?: { path: string; required: boolean }[];
  build?: string;
  restart?: string;
  healthcheck?: { disable?: boolean };
  user?: string;
  ports?: string[];
}

interface LocalProgram {
  entry: string;
  environment(place: object, instance: object): Record<string, string>;
}

type Load = (alias: string) => Promise<object>;

interface Configuration {
  programSettings: (load: Load) => Promise<Record<string, AskedSetting[]>>;
}

const load: Load = (alias) => import(alias) as Promise<object>;
let programSettings: Configuration['programSettings'];

const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};
let nodeFlags: string[];
let programs: Record<string, LocalProgram>;
let settingsOfPrograms: Record<string, AskedSetting[]>;
const programNames = ['migrate', 'gateway', 'billing', 'control-plane', 'video-worker', 'sandbox'];

/** What the documentation calls them. */
const NAMES: Partial<Record<string, string>> = { 'control-plane': 'control plane', 'video-worker': 'worker' };

/** The container's ports and volumes depend on these. */
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

/** Only the names of the variables matter here. */
const place = {
  databaseUrl: () => '',
  passwords: {},
  brokers: [],
};

beforeAll(async () => {
  const script = (name: string) => import(pathToFileURL(join(root, 'scripts/lib', name)).href);
  ({ nodeFlags } = (await script('clone.mjs')) as { nodeFlags: string[] });
  ({ programs } = (await script('programs.mjs')) as { programs: Record<string, LocalProgram> });
  ({ programSettings } = (await script('configuration.mjs')) as Configuration);
  settingsOfPrograms = await programSettings(load);
});

it('runs Node in the image with the same flags as the scripts', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`NODE_OPTIONS="${nodeFlags.join(' ')}"`);
});

describe('docker-compose.yml', () => {
  it('describes the programs that `npm run distributed` runs, plus the broker and the database', () => {
    expect(Object.keys(services).sort()).toEqual([...Object.keys(programs), 'kafka', 'postgres'].sort());
  });

  it.each(programNames)('gives %s the program and the variables that it has locally', (name) => {
    const local = programs[name]!;
    const given = Object.keys(services[name]!.environment!);
    const expected = Object.keys(local.environment(place, {}));
    expect(expected.filter((variable) => !given.includes(variable))).toEqual([]);
    expect(services[name]!.command).toEqual(['node', local.entry]);
  });

  it.each(programNames)('can set every variable that the code of %s may read', (name) => {
    const { environment = {}, env_file: files } = services[name]!;
    expect(files).toEqual([`tollgate.env`, `${name}.env`].map((path) => ({ path, required: false })));
    // Variables that are not named here come from the files. Those that are must read a variable of the same name.
    const fixed = settingNames.filter((variable) => {
      const asked = new RegExp(`\\$\\{(?:(?:GATEWAY|BILLING|WORKER)_)?${variable}:?-`);
      return variable in environment && !asked.test(String(environment[variable]));
    });
    expect(fixed.filter((variable) => !FIXED_BY_THE_CONTAINER.has(variable))).toEqual([]);
  });

  it.each(programNames)('gives %s nothing that it does not read', (name) => {
    const read = settingsOfPrograms[NAMES[name] ?? name]!;
    const known = read.flatMap((setting) =>
      setting.isLogin ? [setting.name, passwordOf(setting.name)] : [setting.name],
    );
    const given = Object.keys(services[name]!.environment!);
    expect(given.filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it('can leave each secret empty, so that a file may hold it', () => {
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

  it('builds the image once, and has room for several of each program', () => {
    expect(Object.keys(services).filter((name) => services[name]!.build)).toEqual(['migrate']);
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    expect(text).not.toContain('container_name');
  });

  it('names an API address only if a single port is given', () => {
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    expect(services['gateway']!.ports).toEqual(['127.0.0.1:${GATEWAY_PORTS:-${PORT:-8787}}:8787']);
    expect(text.match(/http:\/\/127\.0\.0\.1:\$\{GATEWAY_PORTS/)).toBeNull();
  });

  it('restarts every program that ends, and watches its health', () => {
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

  it('copies nothing that does not exist', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) =>
      list!.split(' '),
    );
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });
});
