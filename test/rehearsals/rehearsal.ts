import type { Account } from '../support/books.js';
import { Deployment, type DeploymentOptions } from '../support/deployment.js';
import { OUTAGE_DURATIONS } from '../support/durations.js';
import type { Environment } from '../support/programs.js';
import { Shoppers } from '../support/shoppers.js';
import { Load } from './load.js';
import { type Result, resultOf } from './result.js';
import type { Undo } from './undo.js';

export interface Rehearsal {
  name: string;
  /** What is done, in a few words. */
  fault: string;
  /** Whether `npm test` runs it. */
  isQuick: boolean;
  /** Makes what the programs depend on. */
  prepare(undo: Undo): Promise<Scene>;
}

export interface Scene {
  env: Environment;
  /** What only some kinds of programs see, at their first start. */
  differing?: DeploymentOptions['differing'];
  /** A command that runs the programs, with what they are to see of the machine. */
  under?: readonly string[];
  /** Addresses that programs know by other names. */
  reach?: DeploymentOptions['reach'];
  /** Behind a load balancer, to which calls then go. */
  gateways?: number;
  front?: (relay: Deployment) => Promise<string>;
  billings?: number;
  /** What the programs run from at first, and who opens the accounts then: the schema is of that version. */
  version?: string;
  account?: (relay: Deployment) => Promise<Account>;
  /** How long the upstream works on a video. */
  videoSeconds?: number;
  /** The programs start a broker of their own, rather than use the one of KAFKA_BROKERS. */
  ownBroker?: boolean;
  /**
   * Does the fault, and ends it where it would not end by itself.
   * @returns from when on recovery counts, by performance.now(): the fault, or the end of one that lasts
   */
  hurt(stage: Stage): Promise<number>;
}

/** What a scene sees of the rehearsal that it is part of. */
export interface Stage {
  relay: Deployment;
  load: Load;
  say: (text: string) => void;
}

/** Calls that begin in a second, of which one of `VIDEO_EVERY` orders a video and the others an image. */
const PER_SECOND = 8;
const VIDEO_EVERY = 8;
const VIDEO_SECONDS = 0.2;
const CUSTOMERS = 3;
/** Of each, in USD. */
export const CREDITS = '100';

/** Runs one rehearsal from an empty installation to the last check; whatever happens, nothing of it is left. */
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
  // A connection that is kept would stay with one gateway, and may be closed just when the next call is sent.
  const headers: Record<string, string> = front === undefined ? {} : { connection: 'close' };
  const account = scene.account ?? (({ books }) => books.account(CREDITS));
  while (groups.length < CUSTOMERS) groups.push(new Shoppers(await account(relay), url, headers));
  const ask = (count: number) => askFor(groups, count, scene.videoSeconds ?? VIDEO_SECONDS);
  const load = new Load({ gapMs: () => 1_000 / PER_SECOND, ask });
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
