import type { CreateOutcome, PollOutcome, VideoRequest } from '#upstream/outcomes.js';
import { type Bench, bytesOf, CALL_MS, type CaseOf, fileText, promptOf } from './bench.fixture.js';
import { failureText } from './outcome-text.fixture.js';

/** The first bytes of each type of file, and their offset. */
const HEADS = { videos: { at: 4, text: 'ftyp' }, assets3d: { at: 0, text: 'glTF' } };

/** Creates a video or a 3D asset, follows it to its end, and opens its file. */
export async function taskCase(bench: Bench, each: CaseOf): Promise<string> {
  if (each.happens === 'unknown-task') return pollText(await poll(bench, each, 'none'));
  const key = bench.nextKey();
  const outcome = await create(bench, each, key);
  if (each.happens === 'repeat') return repeated(bench, each, { key, outcome });
  if (outcome.kind !== 'accepted') {
    return failureText(outcome) + (each.happens === 'two-keys' ? bench.keyText(each) : '');
  }
  if (each.happens === 'give-up') return givenUp(bench, each, outcome.upstreamId);
  const followed = await follow(bench, each, outcome.upstreamId);
  return each.operation === 'silentVideos'
    ? `${await soundText(bench, outcome.upstreamId)}, ${followed}`
    : followed;
}

/** What was requested from the vendor. */
async function soundText(bench: Bench, id: string): Promise<string> {
  const { tasks } = await bench.sandbox.read('/_sandbox/tasks');
  const task = (tasks as { id: string; audio: boolean | null }[]).find((each) => id.endsWith(each.id));
  return task?.audio === false ? 'without sound' : 'with sound';
}

/** The outcome of cancelling a task. */
async function givenUp(bench: Bench, each: CaseOf, id: string): Promise<string> {
  const count = () => bench.statistic('jobsCancelled');
  const before = await count();
  if (!(await bench.adapter(each).cancelTask(bench.channel(each), id))) return 'not to be cancelled';
  return (await count()) === before + 1 ? 'cancelled at the vendor' : 'still wanted there';
}

async function create(bench: Bench, each: CaseOf, idempotencyKey: string): Promise<CreateOutcome> {
  const [model, prompt] = [bench.model(each), promptOf(each)];
  const adapter = bench.adapter(each);
  const options = async () => ({ idempotencyKey, signal: await bench.signal(each) });
  if (each.operation === 'assets3d')
    return adapter.createAsset(bench.channel(each), { model, mode: 'draft', prompt }, await options());
  const audio = each.operation === 'silentVideos' ? false : undefined;
  const request = { model, prompt, seconds: 1, aspectRatio: '16:9', resolution: '720p', audio };
  const remixOf = each.operation === 'videoRemixes' ? await remixable(bench, each, request) : undefined;
  return adapter.createVideo(bench.channel(each), { ...request, remixOf }, await options());
}

/** The vendor's ID of a finished video. A repeat returns the same. */
async function remixable(bench: Bench, each: CaseOf, request: VideoRequest): Promise<string> {
  if (each.happens === 'unknown-video') return 'none';
  const plain = { ...each, happens: 'nothing' };
  const finished = { ...request, prompt: 'a fox [[work:0]]' };
  const options = { idempotencyKey: 'remixable', signal: AbortSignal.timeout(CALL_MS) };
  const outcome = await bench.adapter(each).createVideo(bench.channel(plain), finished, options);
  if (outcome.kind !== 'accepted') throw new Error(`the video to remix was ${outcome.kind}`);
  return outcome.upstreamId;
}

/** Creates twice under one key if the protocol allows it. A vendor with idempotency keys then has one task. */
async function repeated(
  bench: Bench,
  each: CaseOf,
  { key, outcome }: { key: string; outcome: CreateOutcome },
): Promise<string> {
  const first = outcome.kind === 'unknown' ? 'unclear' : outcome.kind;
  if (!bench.adapter(each).mayRepeat(bench.channel(each))) return `${first}, and not to be repeated`;
  const before = await bench.sandbox.read('/_sandbox/tasks');
  const again = await create(bench, each, key);
  const after = await bench.sandbox.read('/_sandbox/tasks');
  const isOne = before['tasks'].length === after['tasks'].length;
  const then = again.kind === 'accepted' ? `${isOne ? 'the same' : 'another'} task` : failureText(again);
  return `${first}, then ${then}`;
}

function poll(bench: Bench, each: CaseOf, id: string): Promise<PollOutcome> {
  return bench.adapter(each).pollTask(bench.channel(each), id, AbortSignal.timeout(CALL_MS));
}

function pollText(outcome: PollOutcome): string {
  if (outcome.kind === 'failed') return `failed ${outcome.code}`;
  return outcome.kind === 'no_answer' ? 'no answer' : outcome.kind;
}

/** Every different result of the polls, and finally the file. */
async function follow(bench: Bench, each: CaseOf, id: string): Promise<string> {
  const said: string[] = [];
  for (const before = performance.now(); performance.now() - before < CALL_MS;) {
    const outcome = await poll(bench, each, id);
    const text = pollText(outcome);
    if (said.at(-1) !== text) said.push(text);
    if (outcome.kind === 'failed' || each.happens === 'never-finish') return said.join(', ');
    if (each.happens === 'nothing' && outcome.kind === 'running') bench.letWorkEnd();
    if (outcome.kind !== 'completed') continue;
    if (each.happens === 'expired') bench.letFilesExpire();
    return [...said, await fileText(() => fileOf(bench, each, outcome.fileUrl))].join(', ');
  }
  throw new Error(`The task did not end: ${said.join(', ')}.`);
}

async function fileOf(bench: Bench, each: CaseOf, fileUrl: string): Promise<string> {
  const options = { signal: AbortSignal.timeout(CALL_MS), maxBytes: 10_000_000 };
  const file = await bench.adapter(each).openFile(bench.channel(each), fileUrl, options);
  const { at, text } = each.operation === 'assets3d' ? HEADS.assets3d : HEADS.videos;
  const isRight = (await bytesOf(file.body)).toString('latin1', at, at + text.length) === text;
  return isRight ? 'the file' : 'another file';
}
