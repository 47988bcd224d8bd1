import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttackOrder, AttackResult } from './bodies-bench.attack.js';
import type { WaitOrder, WaitResult } from './bodies-bench.load.js';
import { type Children, messageOf, withChildren } from './children.js';
import { BenchRelay } from './gateway-bench.relay.js';
import { printTable } from './report.js';

/**
 * The worst bodies that strangers can send, measured by how long another client waits for the list of models, and how
 * late the relay's event loop is. Stub, relay, attacker and that client are separate processes.
 */
export interface BodiesBenchOptions {
  /** For each attack, and for the time without one. */
  seconds: number;
  /** The longest that an answer may take, milliseconds. */
  limit: number;
  json: boolean;
}

interface Delay {
  p99Ms: number;
  maxMs: number;
}

interface Measured {
  attack: string;
  waits: WaitResult;
  loop: Delay;
  sent: AttackResult | null;
}

const ATTACKS: AttackOrder['attack'][] = [
  'nested edit, 64 MB',
  'many elements, 20 MB',
  'edits with base64 pictures, 128 MB',
  '26 chats of 19 MB in one text',
  'chats just within the limits',
  'forms with pictures, 96 MB',
];

/** Runs the bench and prints the results. Sets the exit code if a client waited too long. */
export function benchBodies(options: BodiesBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-bodies-'));
    children.whenGone(() => rm(folder, { recursive: true, force: true }));
    await bench(options, children, join(folder, 'port'));
  });
}

async function bench(options: BodiesBenchOptions, children: Children, delayFile: string): Promise<void> {
  const stub = children.fork(new URL('./gateway-bench.stub.js', import.meta.url));
  const { port } = await messageOf<{ port: number }>(stub);
  say('starting');
  const relay = await startWatched(`http://127.0.0.1:${port}`, children, delayFile);
  try {
    const [honest = '', hostile = ''] = await relay.openAccounts(2);
    const client = children.fork(new URL('./bodies-bench.load.js', import.meta.url));
    const wait = async (seconds: number): Promise<WaitResult> => {
      const answer = messageOf<WaitResult>(client);
      client.send({ baseUrl: relay.baseUrl, apiKey: honest, seconds } satisfies WaitOrder);
      return answer;
    };
    await wait(1);
    const measured = [await measure('none', () => wait(options.seconds), delayFile)];
    for (const attack of ATTACKS) {
      say(attack);
      const attacker = children.fork(new URL('./bodies-bench.attack.js', import.meta.url));
      const ready = messageOf<string>(attacker);
      const { baseUrl } = relay;
      attacker.send({ baseUrl, apiKey: hostile, attack, seconds: options.seconds } satisfies AttackOrder);
      await ready;
      const sent = messageOf<AttackResult>(attacker);
      const found = await measure(attack, () => wait(options.seconds), delayFile);
      measured.push({ ...found, sent: await sent });
      await children.stop(attacker);
    }
    report(measured, options);
  } finally {
    await relay.stop();
  }
}

/** The relay, with a watch on its event loop. */
async function startWatched(upstream: string, children: Children, delayFile: string): Promise<BenchRelay> {
  const watch = new URL('./bodies-bench.delay.js', import.meta.url).href;
  Object.assign(process.env, { NODE_OPTIONS: `--import ${watch}`, BENCH_DELAY_FILE: delayFile });
  try {
    return await BenchRelay.start('standalone', upstream, children);
  } finally {
    delete process.env['NODE_OPTIONS'];
  }
}

async function measure(
  attack: string,
  wait: () => Promise<WaitResult>,
  delayFile: string,
): Promise<Measured> {
  await loopDelay(delayFile);
  const waits = await wait();
  return { attack, waits, loop: await loopDelay(delayFile), sent: null };
}

async function loopDelay(delayFile: string): Promise<Delay> {
  const response = await fetch(`http://127.0.0.1:${await readFile(delayFile, 'utf8')}/`);
  return (await response.json()) as Delay;
}

function report(measured: Measured[], { limit, json }: BodiesBenchOptions): void {
  const worst = Math.max(...measured.map(({ waits }) => waits.maxMs));
  const failed = measured.reduce((sum, { waits }) => sum + waits.failed, 0);
  if (worst > limit || failed > 0) process.exitCode = 1;
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ bench: 'bodies', measured, worstMs: worst, limitMs: limit })}\n`,
    );
    return;
  }
  const ms = (value: number) => value.toFixed(0);
  printTable(
    ['attack', 'answers', 'models p50 ms', 'p99 ms', 'longest ms', 'loop late p99 ms', 'most ms'],
    measured.map(({ attack, waits, loop, sent }) => {
      const answers = Object.entries(sent?.answers ?? {}).map(([status, count]) => `${count} x ${status}`);
      const { p50Ms, p99Ms, maxMs } = waits;
      return [attack, answers.join(', ') || '-', ...[p50Ms, p99Ms, maxMs, loop.p99Ms, loop.maxMs].map(ms)];
    }),
  );
  const verdict = worst > limit ? 'SOMEBODY WAITED TOO LONG' : 'nobody waited too long';
  process.stdout.write(
    `${verdict}: ${ms(worst)} ms at the longest, ${limit} ms are allowed, ${failed} failed\n`,
  );
}

function say(what: string): void {
  process.stderr.write(`bodies: ${what}\n`);
}
