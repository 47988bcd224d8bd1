import { declareQuery, fieldOf } from '../http/declared-body.js';
import { type Body, invalid, isAbsent } from '../http/fields.js';
import { schema } from '../openapi/operation.js';
import { type TaskKind, TaskLibrary, type TaskLibraryParts } from '../tasks/task.library.js';
import { type VideoView, videoView } from './video.view.js';

export const VIDEO_TASKS: TaskKind<VideoView> = {
  kind: 'video',
  noun: 'video',
  contentPath: (id) => `/v1/videos/${id}/content`,
  fileType: 'video/mp4',
  codes: {
    notFound: 'video_not_found',
    notReady: 'video_not_ready',
    failed: 'video_failed',
    expired: 'video_expired',
    deleted: 'video_deleted',
  },
  fileQuery: { variant: fieldOf.word(['video']) },
  view: videoView,
};

/** A page of an account's videos, like OpenAI's lists. */
export interface VideoPage {
  object: 'list';
  data: VideoView[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

const PAGE = { usual: 20, most: 100 };

export const videoPageQuery = declareQuery({
  after: { schema: schema.text('The ID of the last video of the previous page.'), read: readAfter },
  limit: {
    schema: schema.integer(`Default: ${PAGE.usual}.`, { minimum: 1, maximum: PAGE.most }),
    read: readLimit,
  },
  order: fieldOf.word(['asc', 'desc'], 'By time. Default: newest first.'),
});

/** Videos and their files as clients see them. */
export class VideoLibrary extends TaskLibrary<VideoView> {
  constructor(parts: TaskLibraryParts) {
    super(VIDEO_TASKS, parts);
  }

  /** The account's videos by `after`, `limit` and `order`, newest first by default. @throws ApiError */
  async page(accountId: string, query: Body, origin: () => string): Promise<VideoPage> {
    const { read } = videoPageQuery;
    const limit = read.limit(query);
    const found = await this.parts.listing.page(accountId, {
      kind: 'video',
      order: read.order(query) ?? 'desc',
      after: read.after(query),
      // One more than requested shows whether there are more.
      limit: limit + 1,
    });
    const data = found.slice(0, limit).map((task) => this.view(task, origin));
    return {
      object: 'list',
      data,
      has_more: found.length > limit,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    };
  }
}

function readLimit(query: Body, param: string): number {
  const text = query[param];
  if (isAbsent(text)) return PAGE.usual;
  const limit = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > PAGE.most) throw invalid(param, `must be a whole number from 1 to ${PAGE.most}`);
  return limit;
}

function readAfter(query: Body, param: string): string | undefined {
  const after = query[param];
  if (isAbsent(after)) return undefined;
  if (typeof after === 'string' && /^[a-z0-9]{20,40}$/.test(after)) return after;
  throw invalid(param, 'must be the id of a video');
}
