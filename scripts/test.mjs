// `npm test`: checks everything that must hold. It installs what is missing, starts what it needs and says what did not
// run.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodePath, prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root, say } from './lib/clone.mjs';
import { exitOf, guard } from './lib/children.mjs';
import { inLanes } from './lib/lanes.mjs';
import { ownNetwork } from './lib/own-network.mjs';
import { hasSpecs, readReport, specsCommand, stages } from './lib/stages.mjs';

const HELP = `Runs all tests and checks, or some stages of them.

Usage: npm test -- [--only STAGE,…] [--require-kafka] [--require-chromium] [--require-fuzzer]
       [--require-s3] [--require-containers] [--require-version-before] [--help] [-- VITEST_OPTIONS]

  --only STAGE,…    run these stages only: STAGES
  --require-kafka   fail if there is no Kafka broker (also TOLLGATE_REQUIRE_KAFKA=1)
  --require-chromium  fail if there is no browser (also TOLLGATE_REQUIRE_CHROMIUM=1)
  --require-fuzzer  fail if the API fuzzer or the Python SDKs cannot be installed (also TOLLGATE_REQUIRE_FUZZER=1)
  --require-s3      fail if there is no S3 server (also TOLLGATE_REQUIRE_S3=1)
  --require-containers  fail if containers cannot run (also TOLLGATE_REQUIRE_CONTAINERS=1)
  --require-version-before  fail if the previous version cannot be found or installed (also TOLLGATE_REQUIRE_VERSION_BEFORE=1)
  --help            this text
  -- VITEST_OPTIONS  for the stages that run specs, such as: -- -t "monthly limit", or the spec files to run

The broker is KAFKA_BROKERS if set, else Apache Kafka by Maven and Java 17, else the compose file's by Docker. The S3
server is S3Proxy by Maven and Java 17.
The browser is CHROMIUM, else chromium-headless-shell, else chromium. The browser, hledger, beancount and faketime are the
installed ones; as root, missing ones are installed with apt-get. The fuzzer (Schemathesis), the Kubernetes schemas and
the Python SDKs that the docs use come from PyPI and need Python 3. What builds the docs comes from npm.
Prometheus is the installed one, else unpacked from Debian's package; without it, its stage fails.
Containers run in the engine that \`docker\` reaches, else, as root, in a private one from apt's docker.io, with stand-ins
for images that cannot be pulled. Docker Compose is the plugin, else unpacked from Debian's package.
Helm is the installed one; \`--only chart\` builds it with Go if it is missing. \`cluster\` only runs if it is named: it
needs root, and builds Kubernetes, kube-router and Prometheus Adapter with Go once, which takes minutes.
Up to three stages run at the same time, so their durations add up to more than the total.
Exit codes: 0 all passed, 1 something failed, 129, 130 and 143 stopped by a signal.
`;

const { values, positionals } = readArguments();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        'require-kafka': { type: 'boolean', default: process.env.TOLLGATE_REQUIRE_KAFKA === '1' },
        'require-chromium': { type: 'boolean', default: process.env.TOLLGATE_REQUIRE_CHROMIUM === '1' },
        'require-fuzzer': { type: 'boolean', default: process.env.TOLLGATE_REQUIRE_FUZZER === '1' },
        'require-s3': { type: 'boolean', default: process.env.TOLLGATE_REQUIRE_S3 === '1' },
        'require-containers': { type: 'boolean', default: process.env.TOLLGATE_REQUIRE_CONTAINERS === '1' },
        'require-version-before': {
          type: 'boolean',
          default: process.env.TOLLGATE_REQUIRE_VERSION_BEFORE === '1',
        },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return giveUp(`${error.message} See npm test -- --help.`);
  }
}

async function main(chosen) {
  const run = new Run(chosen);
  await inLanes(chosen, (stage) => run.stage(stage));
  await run.end();
  run.summarise();
  return run.stoppedBy ?? (run.failed ? 1 : 0);
}

function chosenStages() {
  if (values.only === undefined) return stages.filter(({ onlyByName }) => !onlyByName);
  const names = values.only.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) giveUp(`There is no stage ${unknown.join(', ')}. See npm test -- --help.`);
  return stages.filter((stage) => names.includes(stage.name));
}

/** The stages that ran so far, and the current one. */
class Run {
  results = [];
  /** The exit code, if a signal stopped the run. */
  stoppedBy;
  #startedAt = performance.now();
  #children = new Set();
  #interrupted = new AbortController();
  /** Shared by all stages that use one: a promise, since some run at the same time. */
  #broker;
  #brokerEnding;
  #engine;
  #ending;
  /** Those that have not ended. */
  #ahead;

  constructor(chosen) {
    this.#ahead = new Set(chosen);
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ]) {
      process.once(signal, () => void this.#interrupt(code));
    }
  }

  get failed() {
    return this.results.some(({ outcome }) => outcome === 'failed');
  }

  async stage(stage) {
    if (this.#interrupted.signal.aborted) return;
    const startedAt = performance.now();
    say(`\n— ${stage.name}: ${stage.about}`);
    const result = await this.#outcome(stage).catch((error) => ({
      outcome: 'failed',
      why: error.message,
    }));
    this.results.push({ name: stage.name, seconds: (performance.now() - startedAt) / 1000, ...result });
    this.#ahead.delete(stage);
    // Without work, it still takes a fortieth of a core.
    if (![...this.#ahead].some(({ kafka }) => kafka === 'any' || kafka === 'both')) await this.#stopBroker();
  }

  async #outcome(stage) {
    if (stage.name === 'build') {
      await prepare();
      return { outcome: 'passed' };
    }
    if (stage.command) return { outcome: outcomeOf(await this.#execute(stage.command, stage.env)) };
    if (!hasSpecs(stage)) return { outcome: 'not run', why: 'there are no specs yet' };
    const env = stage.kafka ? await this.#kafka(stage.kafka) : { env: {} };
    if (env.why !== undefined) return env;
    if (stage.accounting) {
      const { missingAccountingTools } = await import('./lib/accounting-tools.mjs');
      const why = missingAccountingTools(say);
      if (why !== null) return { outcome: 'not run', why };
    }
    if (stage.faketime) {
      const { missingPrograms } = await import('./lib/system-packages.mjs');
      const why = missingPrograms({ faketime: 'faketime' }, say);
      if (why !== null) return { outcome: 'not run', why };
    }
    if (stage.chromium) {
      const { missingChromium } = await import('./lib/chromium.mjs');
      const why = missingChromium(say);
      if (why !== null) return { outcome: values['require-chromium'] ? 'failed' : 'not run', why };
    }
    if (stage.s3) {
      const { fetchS3Server } = await import('./lib/s3-server.mjs');
      const { why } = fetchS3Server(say);
      if (why !== undefined) return { outcome: values['require-s3'] ? 'failed' : 'not run', why };
    }
    const prometheus = stage.prometheus ? await this.#prometheus() : { env: {} };
    if (prometheus.outcome !== undefined) return prometheus;
    const containers = stage.containers ? await this.#containers() : { env: {} };
    if (containers.why !== undefined) return containers;
    const helm = stage.helm ? await this.#helm() : { env: {} };
    if (helm.why !== undefined) return helm;
    const cluster = stage.cluster ? await this.#place(containers.env) : { env: {}, under: [] };
    if (cluster.why !== undefined) return cluster;
    const python = stage.python ? await this.#python(stage.python) : { env: {}, args: [] };
    if (python.outcome !== undefined) return python;
    // Crash and Kafka specs run the built programs, even if the build stage was not chosen.
    await prepare();
    const withoutDocs = stage.docs ? await this.#docs() : undefined;
    if (withoutDocs !== undefined) return withoutDocs;
    const { command, report } = specsCommand(stage, [...python.args, ...positionals]);
    const variables = {
      ...env.env,
      ...prometheus.env,
      ...containers.env,
      ...helm.env,
      ...cluster.env,
      ...python.env,
      ...(values['require-version-before'] && { TOLLGATE_REQUIRE_VERSION_BEFORE: '1' }),
    };
    const under = stage.ownNetwork ? ownNetwork() : cluster.under;
    const code = await this.#execute(command, variables, under);
    const told = readReport(report);
    const why = [python.why, ...told.leftOut].filter((sentence) => sentence !== undefined).join('; ');
    const outcome = told.failures.length === 0 ? outcomeOf(code) : 'failed';
    return { outcome, report: told, why: why === '' ? undefined : why };
  }

  /** Where the Python packages are. Without them, the spec that needs them is left out, and the summary says so. */
  async #python({ spec, variable, ...wanted }) {
    const { installPython } = await import('./lib/python-packages.mjs');
    const { program, why } = installPython(wanted, say);
    if (why === undefined) return { env: { [variable]: program }, args: [] };
    if (values['require-fuzzer']) return { outcome: 'failed', why };
    return { env: {}, args: [`--exclude=${spec}`], why: `${spec} was left out: ${why}` };
  }

  /** Why the documentation could not be built, or undefined. */
  async #docs() {
    const { buildDocs } = await import('./lib/docs-build.mjs');
    const { installDocsPackages } = await import('./lib/install.mjs');
    try {
      installDocsPackages();
    } catch (error) {
      return { outcome: 'not run', why: error.message };
    }
    await buildDocs(join(root, 'dist'));
    return undefined;
  }

  /** Where Prometheus's programs are. Rules that nobody checked are a failure. */
  async #prometheus() {
    const { findPrometheus } = await import('./lib/prometheus.mjs');
    try {
      return { env: { TOLLGATE_PROMETHEUS: findPrometheus(say).folder } };
    } catch (error) {
      return { outcome: 'failed', why: error.message };
    }
  }

  /** Where Helm is, or why the chart cannot be checked. */
  async #helm() {
    const { findHelm } = await import('./lib/helm.mjs');
    const { program, why } = findHelm({ mayBuild: values.only !== undefined, say });
    return why === undefined ? { env: { TOLLGATE_HELM: program } } : { outcome: 'not run', why };
  }

  /** How the specs reach a container engine, or why they cannot run. */
  async #containers() {
    // The image is made from what is built.
    await prepare();
    const { startEngine } = await import('./lib/containers/engine.mjs');
    const { NoEngine } = await import('./lib/containers/no-engine.mjs');
    try {
      this.#engine ??= startEngine(say, this.#interrupted.signal);
      return { env: (await this.#engine).env };
    } catch (error) {
      if (!(error instanceof NoEngine)) throw error;
      return { outcome: values['require-containers'] ? 'failed' : 'not run', why: error.message };
    }
  }

  /** Where a cluster's node runs, or why it cannot. */
  async #place(engine) {
    const { prepareCluster } = await import('./lib/cluster/prepare.mjs');
    const place = await prepareCluster(engine, say);
    return place.why === undefined ? place : { outcome: 'not run', why: place.why };
  }

  /** The broker's address for the specs, or why they cannot run. */
  async #kafka(which) {
    const { requireLocalKafka, startKafka, NoKafka } = await import('./lib/kafka-broker.mjs');
    try {
      if (which !== 'any') await requireLocalKafka(say);
      if (which === 'own') return { env: {} };
      this.#broker ??= startKafka({ say });
      return { env: { KAFKA_BROKERS: (await this.#broker).brokers.join(',') } };
    } catch (error) {
      if (!(error instanceof NoKafka)) throw error;
      const required = values['require-kafka'] && !(which !== 'any' && process.env.KAFKA_BROKERS);
      return { outcome: required ? 'failed' : 'not run', why: error.message };
    }
  }

  async #execute(args, env = {}, under = []) {
    this.#interrupted.signal.throwIfAborted();
    const [program, ...words] = [...under, nodePath(), ...args];
    const child = spawn(program, words, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
      // In a separate group, so that a stop ends the workers too, and only once.
      detached: true,
    });
    // What holds a cluster's namespaces open ignores other signals, and everything in them ends with it.
    const lift = guard(child.pid, under.includes('--kill-child') ? 'KILL' : 'TERM');
    this.#children.add(child);
    try {
      return await exitOf(child);
    } finally {
      lift();
      this.#children.delete(child);
    }
  }

  async #interrupt(code) {
    this.stoppedBy = code;
    this.#interrupted.abort();
    for (const child of this.#children) process.kill(-child.pid, 'SIGTERM');
    await Promise.all([...this.#children].map(exitOf));
    await this.end();
    process.exit(code);
  }

  /** Ends what the stages share. After a signal, the run and its handler both wait for it: the first to go on would cut it short. */
  end() {
    this.#ending ??= this.#stopShared();
    return this.#ending;
  }

  #stopBroker() {
    this.#brokerEnding ??= this.#broker
      ?.then(
        (broker) => broker.stop(),
        () => undefined,
      )
      .catch((error) => say(`The broker was not stopped: ${error.message}`));
    return this.#brokerEnding;
  }

  async #stopShared() {
    await this.#stopBroker();
    const engine = await this.#engine?.catch(() => undefined);
    await engine?.stop();
  }

  summarise() {
    const lines = this.results.map(({ name, outcome, seconds, report }) => {
      const tests = report ? `${report.passed} passed, ${report.failures.length} failed` : '';
      return `${name.padEnd(12)}${outcome.padEnd(9)}${`${seconds.toFixed(1)} s`.padStart(9)}  ${tests}`.trimEnd();
    });
    const reasons = this.results
      .filter(({ why }) => why !== undefined)
      .map(({ name, outcome, why }) => `${name} ${outcome === 'not run' ? 'did not run' : outcome}: ${why}`);
    const total = (performance.now() - this.#startedAt) / 1000;
    const reports = this.results.flatMap(({ report }) => report ?? []);
    const failures = reports.flatMap((report) => report.failures);
    const told = failures.flatMap(({ name, message }) => [`FAILED ${name}`, indented(message), '']);
    process.stdout.write(
      [
        '',
        ...told,
        ...lines,
        `${'total'.padEnd(21)}${`${total.toFixed(1)} s`.padStart(9)}`,
        '',
        ...reasons,
        '',
      ].join('\n'),
    );
    const passed = reports.reduce((sum, report) => sum + report.passed, 0);
    process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
  }
}

/** Enough of an error to find it. The whole error is above, where its stage ran. */
function indented(message) {
  return message
    .split('\n')
    .filter((line) => !line.includes('/node_modules/vitest/'))
    .slice(0, 24)
    .map((line) => `  ${line}`)
    .join('\n');
}

function outcomeOf(code) {
  return code === 0 ? 'passed' : 'failed';
}

if (values.help) {
  process.stdout.write(HELP.replace('STAGES', stages.map(({ name }) => name).join(', ')));
} else {
  const chosen = chosenStages();
  // Java programs run only for minutes here, so compiling their code a second time costs more than it saves.
  process.env.JDK_JAVA_OPTIONS ??= '-XX:TieredStopAtLevel=1';
  await prepare({ build: false });
  await underPinnedNode();
  process.exit(await main(chosen));
}
