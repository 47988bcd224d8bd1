import type { Account } from '../support/books.js';
import { Deployment, type DeploymentOptions } from '../support/deployment.js';
import { OUTAGE_DURATIONS } from '../support/durations.js';
import { RECOVERY_LIMIT_MS } from '../support/eventually.js';
import type { Environment } from '../support/programs.js';
import { Shoppers } from '../support/shoppers.js';
import { Load } from './load.js';
import { type Result, resultOf } from './result.js';
import type { Undo } from '../support/outages/undo.js';

export interface Rehearsal {
  name: string;
  /** The fault, in a few words. */
  fault: string;
  /** Whether `npm test` runs it. */
  isQuick: boolean;
  /** Starts what the programs depend on. */
  prepare(undo: Undo): Promise<Scene>;
}

export interface Scene {
  env: Environment;
  /** Extra settings for some kinds of programs, at their first start. */
  differing?: DeploymentOptions['differing'];
  /** A command that runs the programs and controls what they see of the machine. */
  under?: readonly string[];
  /** The real addresses of what programs know under other names. */
  reach?: DeploymentOptions['reach'];
  /** How many gateways are behind a load balancer, which then receives the calls. */
  gateways?: number;
  front?: (relay: Deployment) => Promise<string>;
  billings?: number;
  /** The version that programs run at first, and how accounts are created in its schema. */
  version?: string;
  account?: (relay: Deployment) => Promise<Account>;
  /** How long the upstream works on a video. */
  videoSeconds?: number;
  /** Whether the programs start their own broker instead of using the one in KAFKA_BROKERS. */
  ownBroker?: boolean;
  /**
   * Causes the fault, and ends it unless it ends by itself.
   * @returns the start of recovery, by performance.now(): the fault, or its end if it lasts
   */
  hurt(stage: Stage): Promise<number>;
}

/** What a scene can use from its rehearsal. */
export interface Stage {
  relay: Deployment;
  load: Load;
  say: (text: string) => void;
}

/** Calls per second. One in `VIDEO_EVERY` orders a video, the others an image. */
const PER_SECOND = 8;
const VIDEO_EVERY = 8;
const VIDEO_SECONDS = 0.2;
const CUSTOMERS = 3;
/** The credits of each account. */
export const CREDITS = '100';

/** Runs one rehearsal from an empty installation to the last check, and always cleans up. */
export async function rehearse(
  rehearsal: Rehearsal,
  { undo, say }: { undo: Undo; say: (text: string) => void },
): Promise<Result> {
  try {
    say(`${rehearsal.name}: starting the programs`);
    const scene = await rehearsal.prepare(undo);
    const env = { ...OUTAGE_DURATIONS, CHAIN_SEAL_SECONDS: '1', ...scene.env };
    const { ownBroker, under, reach, gateways, billings, version, differing } = scene;
    const relay = await undo.during(
      () =>
        Deployment.start({ env, each: 1, gateways, billings, version, differing, ownBroker, under, reach }),
      (started) => started.stop(),
    );
    await relay.untilReady();
    return await underLoad({ rehearsal, scene, relay, say });
  } finally {
    await undo.all();
  }
}

interface Run {
  rehearsal: Rehearsal;
  scene: Scene;
  relay: Deployment;
  say: (text: string) => void;
}

async function underLoad({ rehearsal, scene, relay, say }: Run): Promise<Result> {
  const front = await scene.front?.(relay);
  const url = front === undefined ? relay.nextUrl : () => front;
  const groups: Shoppers[] = [];
  // A kept connection would stay with one gateway, and might close just as the next call is sent.
  const headers: Record<string, string> = front === undefined ? {} : { connection: 'close' };
  const account = scene.account ?? (({ books }) => books.account(CREDITS));
  while (groups.length < CUSTOMERS) groups.push(new Shoppers(await account(relay), url, { headers }));
  const ask = (count: number) => askFor(groups, count, scene.videoSeconds ?? VIDEO_SECONDS);
  const load = new Load({ gapMs: () => 1_000 / PER_SECOND, ask, limitMs: RECOVERY_LIMIT_MS });
  let recoveredMs: number;
  load.start();
  try {
    await load.served(performance.now(), () => relay.logs());
    say(`${rehearsal.name}: ${rehearsal.fault}`);
    const sinceMs = await scene.hurt({ relay, load, say });
    recoveredMs = await load.served(sinceMs, () => relay.logs());
  } finally {
    await load.stop();
  }
  say(`${rehearsal.name}: waiting for every charge and task to end`);
  await relay.untilReady();
  await relay.atRest();
  const { name, fault } = rehearsal;
  return { name, fault, perSecond: PER_SECOND, ...(await resultOf({ relay, load, groups })), recoveredMs };
}

async function askFor(groups: readonly Shoppers[], count: number, videoSeconds: number): Promise<boolean> {
  const shoppers = groups[count % groups.length]!;
  const name = `drawing ${count}`;
  const isVideo = count % VIDEO_EVERY === 0;
  const { status } = await (isVideo
    ? shoppers.video(`${name} [[work:${videoSeconds}]]`)
    : shoppers.images(`${name} [[instant]]`));
  return status === 200;
}
