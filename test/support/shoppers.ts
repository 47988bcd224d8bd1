import OpenAI from 'openai';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import type { Account } from './books.js';
import { LIMIT_MS } from './eventually.js';

/** What a client knows after a call; null without an answer. */
export type Told = ToldImages | ToldVideo;

interface ToldCall {
  /** What the client owes for the answer, in nano-USD. */
  price: bigint;
  requestId: string | null;
  status: number | null;
  code: string | null;
}

interface ToldImages extends ToldCall {
  kind: 'image';
}

interface ToldVideo extends ToldCall {
  kind: 'video';
  taskId: string | null;
  /** The final state that the client saw; null if it left before. */
  seenStatus: string | null;
}

const PRICES = { image: parseAmount('0.02'), videoSecond: parseAmount('0.05') };

/** An answer is slow if a program has to be replaced first, but it comes. */
const CALL_LIMIT_MS = 60_000;
const WAITING_MS = 100;

export interface ShopperOptions {
  headers?: Readonly<Record<string, string>>;
  /** How often a client repeats a call whose connection broke, with the same Idempotency-Key. */
  repeats?: number;
}

/** The error code of the answer, or of the broken connection, such as ECONNRESET. */
function codeOf(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string') return at.code;
  return null;
}

/** The SDK retries some errors too. Here, every answer is final. */
async function fetchFinal(...request: Parameters<typeof fetch>): Promise<Response> {
  const { body, status, headers } = await fetch(...request);
  const final = new Headers(headers);
  final.set('x-should-retry', 'false');
  return new Response(body, { status, headers: final });
}

export function wasLost(call: Told): boolean {
  return call.status === null;
}

export function describeCall(call: Told): string {
  return JSON.stringify({ ...call, price: formatAmount(call.price) });
}

/** mulberry32: the same seed gives the same numbers from 0 to below 1. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Clients of one account with the unmodified SDK, who record their answers. */
export class Shoppers {
  readonly told: Told[] = [];
  private stopped = false;
  private calls = 0;

  constructor(
    readonly account: Account,
    /** The base URL for the next call, since a restarted relay may have moved. */
    private readonly baseUrl: () => string,
    private readonly options: ShopperOptions = {},
  ) {}

  sdk(): OpenAI {
    const baseURL = `${this.baseUrl()}/v1`;
    const { headers, repeats = 0 } = this.options;
    return new OpenAI({
      apiKey: this.account.apiKey,
      baseURL,
      maxRetries: repeats,
      timeout: CALL_LIMIT_MS,
      defaultHeaders: headers,
      fetch: fetchFinal,
    });
  }

  /** The headers of one call, however often the SDK sends it. */
  private callHeaders(): Record<string, string> {
    return this.options.repeats === undefined ? {} : { 'Idempotency-Key': newId() };
  }

  /** Makes `n` images. Never throws because of an answer. */
  async images(prompt = 'a lighthouse', n = 1): Promise<ToldImages> {
    const call: ToldImages = { kind: 'image', price: 0n, requestId: null, status: null, code: null };
    this.told.push(call);
    await this.ask(call, async () => {
      const { data, request_id } = await this.sdk()
        .images.generate({ model: 'vendora-imagine-image', prompt, n }, { headers: this.callHeaders() })
        .withResponse();
      call.price = PRICES.image * BigInt(data.data?.length ?? 0);
      return request_id;
    });
    return call;
  }

  /** Orders a video. `watch` follows it to its end. Never throws because of an answer. */
  async video(prompt = 'a paper boat', seconds = 2): Promise<ToldVideo> {
    const call: ToldVideo = {
      kind: 'video',
      price: 0n,
      requestId: null,
      status: null,
      code: null,
      taskId: null,
      seenStatus: null,
    };
    this.told.push(call);
    await this.ask(call, async () => {
      const { data, request_id } = await this.sdk()
        // The SDK's type has only three lengths, but the relay sells any whole number of seconds.
        .videos.create(
          { model: 'vendora-imagine-video', prompt, seconds: String(seconds) as '4' },
          { headers: this.callHeaders() },
        )
        .withResponse();
      call.price = PRICES.videoSecond * BigInt(seconds);
      call.taskId = data.id;
      return request_id;
    });
    return call;
  }

  /** Follows every accepted video to its end, and downloads it. @throws Error if one does not end in time */
  async watch(): Promise<void> {
    const open = this.told.filter((call) => call.kind === 'video').filter(({ taskId }) => taskId !== null);
    const endMs = Date.now() + LIMIT_MS;
    for (const call of open) {
      while (call.seenStatus === null) {
        const { status } = await this.sdk().videos.retrieve(call.taskId as string);
        if (status === 'completed') await this.download(call.taskId as string);
        if (status === 'completed' || status === 'failed') call.seenStatus = status;
        else if (Date.now() > endMs) throw new Error(`video ${call.taskId} is still ${status}`);
        else await new Promise((resolve) => setTimeout(resolve, WAITING_MS));
      }
    }
  }

  /** Downloads a whole file. @throws Error if it is not an MP4 */
  async download(taskId: string): Promise<Buffer> {
    const response = await this.sdk().videos.downloadContent(taskId);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.toString('latin1', 4, 8) !== 'ftyp') throw new Error(`video ${taskId} is no MP4`);
    return bytes;
  }

  /** Keeps `concurrency` clients calling until `stop`. They try again while no program is listening. */
  async shop(concurrency: number, random: () => number): Promise<void> {
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (!this.stopped) {
          const call = await this.randomCall(random());
          if (wasLost(call)) await new Promise((resolve) => setTimeout(resolve, WAITING_MS));
        }
      }),
    );
  }

  stop(): void {
    this.stopped = true;
  }

  count(fits: (call: Told) => boolean): number {
    return this.told.filter(fits).length;
  }

  private randomCall(choice: number): Promise<Told> {
    this.calls += 1;
    const name = `picture ${this.calls}`;
    if (choice < 0.35) return this.images(`${name} [[instant]]`);
    if (choice < 0.5) return this.images(name, 2);
    if (choice < 0.6) return this.images(`${name} [[fault:partial]]`, 3);
    if (choice < 0.68) return this.images(`${name} [[fault:reject-400]]`);
    if (choice < 0.86) return this.video(`${name} [[work:0.2]]`);
    if (choice < 0.94) return this.video(`${name} [[work:0.2]][[fault:fail-late]]`);
    return this.video(`${name} [[fault:moderation]]`);
  }

  private async ask(call: Told, work: () => Promise<string | null>): Promise<void> {
    try {
      call.requestId = await work();
      call.status = 200;
    } catch (error) {
      // Any other error means that the answer broke off.
      if (!(error instanceof OpenAI.APIError)) return;
      call.status = (error.status as number | undefined) ?? null;
      call.requestId = error.requestID ?? null;
      call.code = codeOf(error);
    }
  }
}
