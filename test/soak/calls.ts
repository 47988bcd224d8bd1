import { instantPng } from '#apps/sandbox-upstream/images.js';
import type { Account } from '../support/books.js';
import type { Dice } from '../support/month/dice.js';
import { silentWav, soundForm } from '../support/sounds.js';

/** What a client knows after a call. */
export interface Answer {
  readonly account: Account;
  readonly kind: string;
  /** The fault that the upstream was ordered to simulate. */
  readonly fault: string | null;
  /** Null without an answer. */
  status: number | null;
  requestId: string | null;
  /** A 200 that broke off in the middle, or a stream that says it did. */
  isCut: boolean;
  /** The path for polling an accepted task. */
  task: string | null;
}

interface Kind {
  name: string;
  /** `{video}` stands for the account's last video. */
  path: string;
  body: (prompt: string) => object | FormData;
  /** Upstream faults with a certain outcome: an error without a charge, or an answer with one. */
  faults: readonly string[];
  /** The path for polling an accepted task until it ends. */
  tasks?: string;
}

const MESSAGES = (prompt: string) => [{ role: 'user', content: prompt }];
const REFUSALS = ['reject-400', 'reject-429', 'reject-500', 'moderation'];
const IMAGE_FAULTS = [...REFUSALS, 'partial', 'error-200', 'accept-then-timeout', 'slow-bytes'];
const STREAM_FAULTS = [...REFUSALS, 'stream-cut', 'mid-stream-error'];
const TASK_FAULTS = [
  ...REFUSALS,
  'fail-late',
  'unknown-status',
  'done-word',
  'poll-5xx',
  'accept-then-timeout',
];

const EDITED = { url: `data:image/png;base64,${instantPng.toString('base64')}` };

/** Every endpoint that charges, for models from the first catalog and a few more (`MORE_MODELS`). */
const KINDS: readonly Kind[] = [
  {
    name: 'images',
    path: '/v1/images/generations',
    body: (prompt) => ({ model: 'imgmodel-4', prompt, n: 2 }),
    faults: IMAGE_FAULTS,
  },
  {
    name: 'edits',
    path: '/v1/images/edits',
    body: (prompt) => ({ model: 'vendora-imagine-edit', prompt, image: EDITED }),
    faults: IMAGE_FAULTS,
  },
  {
    name: 'images by Google',
    path: '/v1beta/models/imgmodel-4:predict',
    body: (prompt) => ({ instances: [{ prompt }], parameters: { sampleCount: 1 } }),
    faults: IMAGE_FAULTS,
  },
  {
    name: 'video',
    path: '/v1/videos',
    body: (prompt) => ({ model: 'vendora-imagine-video', prompt: `${prompt} [[work:0.2]]`, seconds: '2' }),
    faults: TASK_FAULTS,
    tasks: '/v1/videos',
  },
  {
    name: 'remix',
    path: '/v1/videos/{video}/remix',
    body: (prompt) => ({ prompt: `${prompt} [[work:0.2]]` }),
    faults: TASK_FAULTS,
    tasks: '/v1/videos',
  },
  {
    name: '3d',
    path: '/v1/3d',
    body: (prompt) => ({ model: 'vendora-3d', prompt: `${prompt} [[work:0.2]]` }),
    faults: TASK_FAULTS,
    tasks: '/v1/3d',
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: (prompt) => ({ model: 'vendora-chat', messages: MESSAGES(prompt), max_tokens: 100 }),
    faults: REFUSALS,
  },
  {
    name: 'chat, streamed',
    path: '/v1/chat/completions',
    body: (prompt) => ({ model: 'vendora-chat', messages: MESSAGES(prompt), max_tokens: 100, stream: true }),
    faults: STREAM_FAULTS,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (prompt) => ({ model: 'vendora-chat', input: prompt }),
    faults: REFUSALS,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (prompt) => ({ model: 'vendora-messages', messages: MESSAGES(prompt), max_tokens: 100 }),
    faults: REFUSALS,
  },
  {
    name: 'contents',
    path: '/v1beta/models/chatmodel-2:generateContent',
    body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    faults: REFUSALS,
  },
  {
    name: 'contents, streamed',
    path: '/v1beta/models/chatmodel-2:streamGenerateContent?alt=sse',
    body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    faults: STREAM_FAULTS,
  },
  {
    name: 'speech',
    path: '/v1/audio/speech',
    body: (input) => ({ model: 'vendora-speech', input, voice: 'alloy' }),
    faults: REFUSALS,
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    body: (input) => ({ model: 'soak-embed', input }),
    faults: REFUSALS,
  },
  {
    name: 'transcription',
    path: '/v1/audio/transcriptions',
    body: (prompt) => soundForm(silentWav(1), { model: 'soak-hear', prompt }),
    faults: REFUSALS,
  },
  {
    name: 'translation',
    path: '/v1/audio/translations',
    body: (prompt) => soundForm(silentWav(1), { model: 'soak-hear', prompt }),
    faults: REFUSALS,
  },
];

/** Models that the first catalog lacks: ID, family, unit and price. */
export const MORE_MODELS = [
  ['soak-embed', 'chat', 'call', '0.001'],
  ['soak-hear', 'speech', 'second', '0.002'],
] as const;

/** Models whose price changes while they are sold, and its range. */
export const REPRICED = [
  { model: 'imgmodel-4', prices: ['0.03', '0.031', '0.0275'] },
  { model: 'vendora-imagine-video', prices: ['0.05', '0.0625'] },
  { model: 'vendora-speech', prices: ['0.015', '0.0149'] },
] as const;

/** How many calls in a hundred fail upstream. */
const FAULT_PERCENT = 15;
/** Longer than any answer takes. */
const CALL_LIMIT_MS = 60_000;

/** A random call. */
interface Call {
  account: Account;
  kind: Kind;
  fault: string | null;
  prompt: string;
}

export function drawCall(dice: Dice, accounts: readonly Account[]): Call {
  const kind = dice.one(KINDS);
  const fault = dice.percent(FAULT_PERCENT) ? dice.one(kind.faults) : null;
  const order = fault === null ? '' : ` [[fault:${fault}]]`;
  const prompt = `a lighthouse ${dice.between(1, 1_000_000)} [[tokens:8]]${order}`;
  return { account: dice.favourite(accounts), kind, fault, prompt };
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Makes calls, and records the answers. */
export class Caller {
  readonly answers: Answer[] = [];

  /** @param url the base URL of the next call, since a restarted relay may have moved */
  constructor(private readonly url: () => string) {}

  /** Never throws because of an answer. @returns whether the answer was as expected */
  async make({ account, kind, fault, prompt }: Call): Promise<boolean> {
    const answer: Answer = {
      account,
      kind: kind.name,
      fault,
      status: null,
      requestId: null,
      isCut: false,
      task: null,
    };
    this.answers.push(answer);
    try {
      const path = kind.path.replace('{video}', this.lastVideoOf(account));
      const response = await this.send(account, path, kind.body(prompt));
      answer.requestId = response.headers.get('x-request-id');
      answer.status = response.status;
      const text = await response.text();
      // The end of a stream that broke off upstream. What had arrived is charged, or nothing is.
      answer.isCut = isStream(response) && text.includes('generation_failed');
      if (response.ok && kind.tasks) answer.task = `${kind.tasks}/${(JSON.parse(text) as { id: string }).id}`;
    } catch {
      answer.isCut = answer.status !== null;
    }
    // A customer without credits, or with a frozen account, is rightly refused.
    return answer.status !== null && (answer.status < 500 || fault !== null);
  }

  /** The final state of a task, as its customer reads it; null while it runs, or while a busy relay asks for a repeat. */
  async endOf({ account, task }: Answer): Promise<string | null> {
    const response = await this.send(account, task ?? '');
    if (response.status === 503) return null;
    if (!response.ok) throw new Error(`${task} was answered ${response.status}`);
    const { status } = (await response.json()) as { status: string };
    return ['completed', 'failed'].includes(status) ? status : null;
  }

  /** It may be in progress or have failed. Then it cannot be remixed, and nothing is owed. */
  private lastVideoOf(account: Account): string {
    const isTheirs = (answer: Answer) => answer.account === account && answer.task?.startsWith('/v1/videos/');
    return this.answers.findLast(isTheirs)?.task?.split('/').at(-1) ?? 'none';
  }

  private send({ apiKey }: Account, path: string, body?: object | FormData): Promise<Response> {
    const isForm = body === undefined || body instanceof FormData;
    return fetch(this.url() + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? (body ?? null) : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_LIMIT_MS),
    });
  }
}
