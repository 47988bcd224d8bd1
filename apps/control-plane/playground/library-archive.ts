import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import type { Dispatcher } from 'undici';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { MailLanguage } from '#identity/language.js';
import type { Clock } from '#platform/clock.js';
import { type AccountTask, listTasks } from '#usage/task.reader.js';
import { readUsage, type UsageEntry } from '#usage/usage.store.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import type { GatewayClient, OpenFile } from './gateway.client.js';
import { type LibraryFile, libraryZip } from './library-zip.js';
import { taskFileOf } from './task-files.js';

export interface LibraryArchivesParts {
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

/** A task, or a request for images. */
type Work = { at: Date; task: AccountTask } | { at: Date; request: UsageEntry };

const MOST_FILES = 100;
const MOST_BYTES = 1024 ** 3;
/** One more than fits, so that it is known whether there are more. */
const PAGE = { limit: MOST_FILES + 1, after: null };
/** More than any call for images takes: they are kept from its end, and found by its beginning. */
const LONGEST_CALL_MS = 600_000;

/**
 * The files of a library as one zip, read from a gateway one after the other while the browser saves them. Nothing is stored in
 * between.
 */
export class LibraryArchives {
  constructor(private readonly parts: LibraryArchivesParts) {}

  /** @throws ApiError service_unavailable */
  async open({ accountId, kind, language, ip, reply }: ArchiveCall): Promise<Readable> {
    const { gateway, clock } = this.parts;
    const open = gateway.filesFor({ accountId, ip, reply });
    const works = await this.worksOf(accountId, kind);
    return libraryZip(filesOf(works, open, clock.nowMs()), {
      mostFiles: MOST_FILES,
      mostBytes: MOST_BYTES,
      language,
    });
  }

  /** Newest first. */
  private async worksOf(accountId: string, kind: ArchiveCall['kind']): Promise<Work[]> {
    const [tasks, images] = await Promise.all([
      kind === 'image' ? [] : this.tasksOf(accountId, kind),
      kind === undefined || kind === 'image' ? this.imagesOf(accountId) : [],
    ]);
    return [...tasks, ...images].toSorted((one, other) => other.at.getTime() - one.at.getTime());
  }

  private async tasksOf(accountId: string, kind: AccountTask['kind'] | undefined): Promise<Work[]> {
    const filter = { kind, state: 'completed' } as const;
    const { items } = await listTasks(this.parts.pool, { accountId, filter }, PAGE);
    return items.map((task) => ({ at: new Date(task.createdAtMs), task }));
  }

  private async imagesOf(accountId: string): Promise<Work[]> {
    const { pool, clock, config } = this.parts;
    const from = new Date(clock.nowMs() - config.privacy.retention.images - LONGEST_CALL_MS);
    const filter = { family: 'image', state: 'settled', from } as const;
    const { items } = await readUsage(pool, { accountId, filter }, PAGE);
    return items.map((request) => ({ at: request.at, request }));
  }
}

async function* filesOf(
  works: readonly Work[],
  open: OpenFile,
  nowMs: number,
): AsyncGenerator<LibraryFile, void> {
  for (const work of works) {
    if ('request' in work) yield* imagesOf(work.request, open);
    else if (work.task.deletedAtMs === null) yield fileOf(work.task, open, nowMs);
  }
}

function fileOf({ id, kind, keyId, createdAtMs, expiresAtMs }: AccountTask, open: OpenFile, nowMs: number) {
  const { name, path } = taskFileOf({ id, kind });
  const isThere = expiresAtMs === null || nowMs < expiresAtMs;
  return {
    name,
    at: new Date(createdAtMs),
    read: async () => (isThere ? contentOf(await open(path, keyId)) : null),
  };
}

/** None of a request whose images were not stored. */
async function* imagesOf({ chargeId, keyId, at }: UsageEntry, open: OpenFile): AsyncGenerator<LibraryFile> {
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
