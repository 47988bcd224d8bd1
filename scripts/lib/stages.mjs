// The stages of `npm test`: what each runs, and how its results are read.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './clone.mjs';

const GIB = 1_024 ** 3;
const bin = (path) => join(root, 'node_modules', path);
const reporter = join(import.meta.dirname, 'test-report.mjs');

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string} about
 * @property {string[]} [command] run under the project's Node
 * @property {Record<string, string>} [env] variables of the command
 * @property {string[]} [folders] where its specs are
 * @property {boolean} [alone] its specs start many processes and run one after the other
 * @property {boolean} [waits] its specs wait for the database a third of the time, so a third worker fits in
 * @property {boolean} [wide] it has work for two cores
 * @property {boolean} [light] it waits about as long as it computes, so two such stages share a lane
 * @property {string} [after] begins when the stage with this name has ended, since one reads what the other writes
 * @property {boolean} [accounting] it needs accounting programs
 * @property {boolean} [chromium] it needs a browser
 * @property {{ name: string, program: string, about: string, spec: string, variable: string }} [python] Python
 *   packages for one spec: the file in scripts/python, the environment's program, and the variable that names it
 * @property {boolean} [docs] it needs the documentation site
 * @property {boolean} [faketime] it needs the library that gives programs another clock
 * @property {'any' | 'own' | 'both'} [kafka] it needs a broker; its specs kill an `own` one
 * @property {boolean} [s3] it needs an S3 server
 * @property {boolean} [prometheus] it needs Prometheus and its promtool
 * @property {boolean} [containers] it needs a container engine
 * @property {boolean} [ownNetwork] changes of the machine's network would disturb it, and loopback is enough
 * @property {boolean} [helm] it needs Helm
 * @property {boolean} [cluster] it runs in its own namespaces, with what a Kubernetes node needs
 * @property {boolean} [onlyByName] it runs only if chosen by name
 */

/** Folders of test/ with their own stage. All other specs belong to `unit`. */
const ownStages = [
  'journeys',
  'attacks',
  'monitoring',
  'docs',
  'console',
  'accounting',
  'buckets',
  'life',
  'crash',
  'kafka',
  'outages',
  'rehearsals',
  'containers',
  'chart',
  'cluster',
];

/**
 * First the wide ones, then those that run beside them, each in the order in which they begin (`lanes.mjs`). Short ones
 * come last, so that no lane is empty at the end.
 * @type {Stage[]}
 */
export const stages = [
  { name: 'build', about: 'swc into dist/, the client of the control plane, vite into dist/console' },
  {
    name: 'unit',
    about: 'specs of libs, apps and the house rules',
    folders: unitFolders(),
    waits: true,
    wide: true,
  },
  {
    name: 'attacks',
    about: 'what strangers, customers and staff may try',
    folders: ['test/attacks'],
    wide: true,
    python: {
      name: 'fuzz',
      program: 'schemathesis',
      about: 'the fuzzer of the API documents',
      spec: 'test/attacks/fuzz-*.spec.ts',
      variable: 'TOLLGATE_FUZZER',
    },
  },
  {
    name: 'journeys',
    about: 'a client over HTTP',
    folders: ['test/journeys'],
    waits: true,
    wide: true,
    after: 'docs',
  },
  {
    name: 'console',
    about: 'the pages of the console in a browser',
    folders: ['test/console'],
    wide: true,
    chromium: true,
    ownNetwork: true,
  },
  {
    name: 'format',
    about: 'oxfmt',
    command: [bin('oxfmt/bin/oxfmt'), '--check'],
  },
  {
    name: 'unused',
    about: 'knip: files, exports and packages that nothing uses',
    command: [bin('knip/bin/knip.js'), '--no-progress'],
  },
  {
    name: 'lint',
    about: 'oxlint: its rules, and the types of TypeScript',
    command: [bin('oxlint/bin/oxlint'), '--format=stylish'],
    // Its type checker, a Go program, spends a third of its time collecting garbage unless it may use more memory. On two
    // cores it would work out many types twice, and a wide stage has the other core.
    env: { GOGC: 'off', GOMEMLIMIT: `${Math.min(5 * GIB, Math.floor(totalmem() / 2))}`, GOMAXPROCS: '1' },
  },
  {
    name: 'crash',
    about: 'programs killed at named points',
    folders: ['test/crash'],
    light: true,
  },
  {
    name: 'outages',
    about: 'the broker and the database killed under load',
    folders: ['test/outages'],
    light: true,
    alone: true,
    kafka: 'own',
  },
  {
    name: 'life',
    about: 'a month of the books on a server whose clock jumps',
    folders: ['test/life'],
    light: true,
    alone: true,
    faketime: true,
  },
  {
    name: 'docs',
    about: 'the documentation: its examples run, its pages in a browser',
    folders: ['test/docs'],
    docs: true,
    after: 'unit',
    chromium: true,
    python: {
      name: 'docs',
      program: 'python',
      about: 'the Python SDKs of the docs',
      spec: 'test/docs/python.spec.ts',
      variable: 'TOLLGATE_DOCS_PYTHON',
    },
  },
  {
    name: 'rehearsals',
    about: 'failovers rehearsed under load: the quick ones of npm run rehearse',
    folders: ['test/rehearsals'],
    faketime: true,
    kafka: 'both',
  },
  {
    name: 'kafka',
    about: 'the programs over a real broker',
    folders: ['test/kafka'],
    kafka: 'any',
  },
  {
    name: 'containers',
    about: 'the image built, and run as docker-compose.yml describes it',
    folders: ['test/containers'],
    alone: true,
    containers: true,
    after: 'docs',
  },
  {
    name: 'buckets',
    about: 'files and the request log in an S3 server of others',
    folders: ['test/buckets'],
    s3: true,
  },
  {
    name: 'monitoring',
    about: 'alerts, runbooks and dashboards, in a real Prometheus',
    folders: ['test/monitoring'],
    prometheus: true,
  },
  {
    name: 'accounting',
    about: 'exports read by hledger and beancount',
    folders: ['test/accounting'],
    accounting: true,
  },
  {
    name: 'chart',
    about: 'the Helm chart: rendered, and checked against the schemas of Kubernetes',
    folders: ['test/chart'],
    helm: true,
    python: {
      name: 'chart',
      program: 'kubernetes-validate',
      about: 'the schemas of Kubernetes',
      spec: 'test/chart/chart.spec.ts',
      variable: 'TOLLGATE_KUBERNETES_VALIDATE',
    },
  },
  {
    name: 'cluster',
    about: 'the Helm chart installed in a Kubernetes cluster',
    folders: ['test/cluster'],
    onlyByName: true,
    kafka: 'own',
    prometheus: true,
    containers: true,
    helm: true,
    cluster: true,
  },
];

function unitFolders() {
  const others = readdirSync(join(root, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !ownStages.includes(entry.name))
    .map((entry) => `test/${entry.name}`);
  return ['libs', 'apps', ...others];
}

export function hasSpecs(stage) {
  return stage.folders.some((folder) => {
    const path = join(root, folder);
    return (
      existsSync(path) && readdirSync(path, { recursive: true }).some((name) => name.endsWith('.spec.ts'))
    );
  });
}

/** The command of a stage that runs specs, and the file for its results. */
export function specsCommand(stage, extra) {
  const folder = join(root, '.cache', 'test');
  mkdirSync(folder, { recursive: true });
  const report = join(folder, `${stage.name}.json`);
  rmSync(report, { force: true });
  return {
    report,
    command: [
      bin('vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      `--reporter=${reporter}`,
      `--outputFile=${report}`,
      ...(stage.alone ? ['--maxWorkers=1'] : []),
      ...(stage.waits ? ['--maxWorkers=3'] : []),
      // Vitest would run the files besides the folders.
      ...(extra.some((word) => word.endsWith('.spec.ts'))
        ? []
        : stage.folders.map((path) => `${root}/${path}/`)),
      ...extra,
    ],
  };
}

/** @returns {import('./test-report.mjs').Report} */
export function readReport(file) {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  return {
    ran: 0,
    passed: 0,
    leftOut: [],
    failures: [{ name: file, message: 'The run ended before it could write its report.' }],
  };
}
