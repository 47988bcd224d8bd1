import type { Channel } from '#catalog/catalog.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import type { Task } from '#tasks/task.js';
import { assetRequestOf } from '#upstream/asset-request.js';
import type { CreateOutcome } from '#upstream/outcomes.js';
import type { CreateOptions, UpstreamAdapter } from '#upstream/protocol.js';
import { videoRequestOf } from '#upstream/video-request.js';
import { wholeGlb } from './glb-check.js';
import { wholeMp4 } from './mp4-check.js';

/** Larger than fifteen seconds of 1080p at a studio bit rate; a larger file is not a video that we sold. */
const MAX_VIDEO_BYTES = 512 * 1024 * 1024;
/** Enough for a million faces with textures. */
const MAX_ASSET_BYTES = 256 * 1024 * 1024;

type WithModel = LeasedTask & { upstreamModel: string };

/** What a worker does differently for each kind of task. */
export interface KindOfWork {
  /** What clients see. */
  readonly noun: string;
  /** Where its files are kept, and their type. */
  readonly folder: string;
  readonly extension: string;
  readonly fileType: string;
  readonly maxBytes: number;
  /** Passes a complete file through, and fails on any other. */
  checked(source: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** The stored request has everything that the create had, so it can be repeated under its key. */
  isRepeatable(task: Task): boolean;
  create(
    adapter: UpstreamAdapter,
    channel: Channel,
    call: { task: WithModel; options: CreateOptions },
  ): Promise<CreateOutcome>;
}

export const kindsOfWork: Record<Task['kind'], KindOfWork> = {
  video: {
    noun: 'video',
    folder: 'videos',
    extension: 'mp4',
    fileType: 'video/mp4',
    maxBytes: MAX_VIDEO_BYTES,
    checked: wholeMp4,
    isRepeatable: () => true,
    create: (adapter, channel, { task, options }) =>
      adapter.createVideo(channel, videoRequestOf(task), options),
  },
  '3d': {
    noun: '3D asset',
    folder: 'assets',
    extension: 'glb',
    fileType: 'model/gltf-binary',
    maxBytes: MAX_ASSET_BYTES,
    checked: wholeGlb,
    isRepeatable: ({ request }) => request.asset?.pictures === 0,
    create: (adapter, channel, { task, options }) =>
      adapter.createAsset(channel, assetRequestOf(task), options),
  },
};

/** Every folder of finished files. */
export const fileFolders = Object.values(kindsOfWork).map(({ folder }) => folder);
