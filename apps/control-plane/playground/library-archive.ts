import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import type { Dispatcher } from 'undici';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { MailLanguage } from '#identity/language.js';
import type { Clock } from '#platform/clock.js';
import { type AccountTask, listTasks } from '#usage/task.reader.js';
import type { Slice } from '#usage/newest-first.js';
import { readUsage, type UsageEntry } from '#usage/usage.store.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import type { GatewayClient, OpenFile } from './gateway.client.js';
import { type LibraryFile, libraryZip } from './library-zip.js';
import { taskFileOf } from './task-files.js';

interface LibraryArchivesParts {
  readonly pool: pg.Pool;
  readonly gateway: GatewayClient;
  readonly clock: Clock;
  readonly config: ControlPlaneConfig;
}

interface ArchiveCall {
  readonly accountId: string;
  readonly kind: 'image' | 'video' | '3d' | undefined;
  readonly language: MailLanguage;
  readonly ip: string;
  readonly reply: FastifyReply;
}

type Work =
  | { at: Date; task: Pick<AccountTask, 'id' | 'kind' | 'keyId' | 'expiresAtMs' | 'deletedAtMs'> }
  | { at: Date; request: Pick<UsageEntry, 'chargeId' | 'keyId'> };

/** Newest first. `isPartial`: there may be older works. */
interface Works {
  readonly works: Work[];
  readonly isPartial: boolean;
}

const NONE: Works = { works: [], isPartial: false };
const MOST_FILES = 100;
const MOST_BYTES = 1024 ** 3;
/** At most 1,000 tasks and 1,000 requests for images are checked for files. A page may have fewer than its limit. */
const MOST_PAGES = 10;
const PAGE_LIMIT = 100;
/** No image call takes longer. Images are kept from the end of their call, and calls are found by their start. */
const LONGEST_CALL_MS = 600_000;

/**
 * The files of a library as one zip, read from a gateway one after the other while the browser saves them. Nothing is stored in
 * between.
 */
export class LibraryArchives {
  constructor(private readonly parts: LibraryArchivesParts) {}

  /** Waits for the first bytes. @throws ApiError service_unavailable */
  async open({ accountId, kind, language, ip, reply }: ArchiveCall): Promise<Readable> {
    const { gateway, clock } = this.parts;
    const open = gateway.filesFor({ accountId, ip, reply });
    const { works, isPartial } = await this.worksOf(accountId, kind);
    const zip = libraryZip(filesOf(works, open, clock.nowMs()), {
      mostFiles: MOST_FILES,
      mostBytes: MOST_BYTES,
      isPartial,
      language,
    });
    // Until it is sent, nobody else listens, and an error would end the process.
    zip.on('error', () => undefined);
    await once(zip, 'readable');
    return zip;
  }

  private async worksOf(accountId: string, kind: ArchiveCall['kind']): Promise<Works> {
    const lists = await Promise.all([
      kind === 'image' ? NONE : this.tasksOf(accountId, kind),
      kind === undefined || kind === 'image' ? this.imagesOf(accountId) : NONE,
    ]);
    return {
      works: lists
        .flatMap(({ works }) => works)
        .toSorted((one, other) => other.at.getTime() - one.at.getTime()),
      isPartial: lists.some(({ isPartial }) => isPartial),
    };
  }

  private tasksOf(accountId: string, kind: AccountTask['kind'] | undefined): Promise<Works> {
    const filter = { kind, state: 'completed' } as const;
    return newestOf(
      (page) => listTasks(this.parts.pool, { accountId, filter }, page),
      ({ createdAtMs, id, kind, keyId, expiresAtMs, deletedAtMs }) => {
        return { at: new Date(createdAtMs), task: { id, kind, keyId, expiresAtMs, deletedAtMs } };
      },
    );
  }

  private imagesOf(accountId: string): Promise<Works> {
    const { pool, clock, config } = this.parts;
    const from = new Date(clock.nowMs() - config.privacy.retention.images - LONGEST_CALL_MS);
    const filter = { family: 'image', state: 'settled', from } as const;
    return newestOf(
      (page) => readUsage(pool, { accountId, filter }, page),
      ({ at, chargeId, keyId }) => ({ at, request: { chargeId, keyId } }),
    );
  }
}

async function newestOf<T>(
  read: (page: { limit: number; after: string | null }) => Promise<Slice<T>>,
  workOf: (item: T) => Work,
): Promise<Works> {
  const works: Work[] = [];
  let after: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, next }: Slice<T> = await read({ limit: PAGE_LIMIT, after });
    works.push(...items.map(workOf));
    if (next === null) return { works, isPartial: false };
    after = next;
  }
  return { works, isPartial: true };
}

async function* filesOf(
  works: readonly Work[],
  open: OpenFile,
  nowMs: number,
): AsyncGenerator<LibraryFile, void> {
  for (const work of works) {
    if ('request' in work) yield* imagesOf(work, open);
    else if (work.task.deletedAtMs === null) yield fileOf(work, open, nowMs);
  }
}

function fileOf({ at, task }: Extract<Work, { task: unknown }>, open: OpenFile, nowMs: number): LibraryFile {
  const { name, path } = taskFileOf(task);
  const isThere = task.expiresAtMs === null || nowMs < task.expiresAtMs;
  return { name, at, read: async () => (isThere ? contentOf(await open(path, task.keyId)) : null) };
}

/** None of a request whose images were not stored. */
async function* imagesOf(
  { at, request: { chargeId, keyId } }: Extract<Work, { request: unknown }>,
  open: OpenFile,
): AsyncGenerator<LibraryFile> {
  if (keyId === null) return;
  const listed = await contentOf(await open(`/v1/charges/${chargeId}/images`, keyId));
  if (!listed) return;
  const { data } = (await json(listed.body)) as { data: { url: string }[] };
  for (const { url } of data) {
    const { pathname, search } = new URL(url);
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    const path = `/v1/images/files/${name}${search}`;
    yield { name, at, read: async () => contentOf(await open(path, keyId)) };
  }
}

/** Null for what the gateway does not have. @throws Error for any other answer than the file */
async function contentOf({ statusCode, headers, body }: Dispatcher.ResponseData) {
  if (statusCode === 200) return { bytes: Number(headers['content-length']), body };
  await body.dump();
  if (statusCode === 404) return null;
  throw new Error(`the gateway answered ${statusCode} for a file of a library`);
}
