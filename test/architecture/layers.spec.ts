import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { exportsOf, importsOf, moduleOf, sources, textOf } from './sources.js';

/**
 * The layers, from the bottom up: an import only points down, and never to another module in the same layer. Programs
 * never import each other. Standalone hosts them, and the command-line tool, which finds standalone's data, is on top.
 */
const LAYERS = [
  ['libs/money'],
  ['libs/platform'],
  ['libs/database'],
  ['libs/groups', 'libs/invites', 'libs/topup', 'libs/storage'],
  ['libs/pricing', 'libs/bus', 'libs/identity'],
  ['libs/mail', 'libs/approvals', 'libs/ledger', 'libs/catalog', 'libs/tasks'],
  ['libs/upstream', 'libs/payments', 'libs/privacy'],
  ['libs/marketplace', 'libs/support', 'libs/webhooks'],
  ['libs/usage', 'libs/people'],
  ['libs/finance', 'libs/operations'],
  [
    'apps/gateway',
    'apps/billing',
    'apps/control-plane',
    'apps/video-worker',
    'apps/sandbox-upstream',
    'apps/console',
  ],
  ['apps/standalone'],
  ['apps/cli'],
];

/** Rules without a framework, a driver, a clock or an environment. */
const PURE = [
  /^libs\/(money|pricing)\//,
  /^libs\/groups\/(group|access|version|terms)\.ts$/,
  /^libs\/invites\/reward\.ts$/,
  /^libs\/marketplace\/prices\/price-(change|move)\.ts$/,
  /^libs\/topup\/conversion\.ts$/,
  /^libs\/ledger\/charges\/(charge|batch|batch-plan|hold-decision|delivered-use|announcements)\.ts$/,
  /^libs\/tasks\/task-state\.ts$/,
];
const IMPURE_IMPORT =
  /^(@nestjs|pg$|kafkajs|typeorm|undici|rxjs|node:(?!crypto$)|libs\/platform\/(clock|config|logging)|libs\/database)/;

function layerOf(module: string): number {
  return LAYERS.findIndex((modules) => modules.includes(module));
}

it('has every source in a module of a layer', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((file) => layerOf(moduleOf(file)) < 0)).toEqual([]);
});

it('imports only downwards', () => {
  const wrong = sources.flatMap((file) => {
    const module = moduleOf(file);
    return importsOf(file)
      .filter(({ target }) => target !== null && moduleOf(target) !== module)
      .filter(({ target }) => layerOf(moduleOf(target!)) >= layerOf(module))
      .map(({ target }) => `${file} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

it('has no circular imports', () => {
  expect(circles()).toEqual([]);
});

it('exports no name from two files', () => {
  const exported = sources.flatMap((file) => exportsOf(file).map((name) => ({ name, file })));
  const places = Map.groupBy(exported, ({ name }) => name);
  const twice = [...places].filter(([, found]) => found.length > 1);
  expect(twice.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

it('does not spread literals, which would only save lines', () => {
  const LITERAL = /\.\.\.\(?(?:\[[^[\]]*\]|\{[^{}]*\})(?: as const)?\)?\s*[,\])}]/;
  expect(sources.filter((file) => LITERAL.test(textOf(file)))).toEqual([]);
});

it('has at most 25 sources side by side in a folder', () => {
  const folders = Map.groupBy(sources, (file) => dirname(file));
  expect([...folders].filter(([, files]) => files.length > 25).map(([folder]) => folder)).toEqual([]);
});

/** Their objects live as long as a program. */
const LONG_LIVED = ['apps/gateway/protection/request-limiter.ts', 'libs/database/embedded-server.ts'];

/** V8 puts such a function into the old generation at once, where it keeps all that it uses until a full collection. */
it('assigns no function to a property of what is made for each call', () => {
  const FUNCTION = String.raw`\(*(?:async )?(?:\([^()]*\)(?:: [^=()]+)? =>|\w+ =>|function\b)`;
  const ASSIGNED = new RegExp(String.raw`^\s+(?!\*|prototype)\S*\.\w+ (?:\?\?)?= ${FUNCTION}`);
  const FIELD = new RegExp(String.raw`^  (?!.*,$)(?:private )?(?:readonly )?\w+(?:: .+)? = ${FUNCTION}`);
  const wrong = sources
    .filter((file) => /^(apps\/(billing|gateway|video-worker)|libs)\//.test(file))
    .filter((file) =>
      textOf(file)
        .split('\n')
        .some((line) => ASSIGNED.test(line) || FIELD.test(line)),
    );
  expect(wrong.sort()).toEqual(LONG_LIVED);
});

it('keeps the pure files pure', () => {
  const wrong = sources
    .filter((file) => PURE.some((pattern) => pattern.test(file)))
    .flatMap((file) => [
      ...importsOf(file)
        .filter(({ specifier, target }) => IMPURE_IMPORT.test(target ?? specifier))
        .map(({ specifier }) => `${file} imports ${specifier}`),
      ...(/\bDate\.now\(|\bprocess\.env\b|\bnew Date\(\)/.test(textOf(file))
        ? [`${file} reads the clock or the environment`]
        : []),
    ]);
  expect(wrong).toEqual([]);
});

it('reads no clock where money is decided', () => {
  const wrong = sources
    .filter((file) => /^libs\/(approvals|finance|ledger|payments|people|support)\//.test(file))
    .filter((file) => /\bDate\.now\(|\bnew Date\(\)/.test(textOf(file)));
  expect(wrong).toEqual([]);
});

/**
 * Files that import each other in circles, including type imports: the components with more than one file, by Tarjan's
 * algorithm.
 */
function circles(): string[][] {
  const found: string[][] = [];
  const stack: string[] = [];
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const visit = (file: string): void => {
    index.set(file, index.size);
    lowest.set(file, index.get(file)!);
    stack.push(file);
    for (const { target } of importsOf(file)) {
      if (target === null) continue;
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of sources) if (!index.has(file)) visit(file);
  return found;
}
