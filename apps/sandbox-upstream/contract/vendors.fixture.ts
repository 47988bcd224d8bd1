import type { ChannelProtocol } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import { casesOf, type ContractCase } from './cases.fixture.js';

/** How the sandbox speaks a protocol, and which outcomes differ from those of most vendors. */
export interface VendorContract {
  /** A short description for docs/models.md. */
  about: string;
  /** The base path on the sandbox, for vendors whose paths would collide with others. */
  basePath?: string;
  /** The vendor's model names, if its paths contain them. */
  models?: Partial<Record<Capability, string>>;
  /** Whether its keys are service accounts. */
  hasAccounts?: true;
  /** Outcomes by operation and case; `every` for all operations. */
  differences: Partial<Record<Capability | 'every', Record<string, string>>>;
}

/** Its polls do not name the task. */
const NAMELESS_POLLS = { "another's state": 'completed, the file' };

/** Google answers a wrong key with 400. */
const GOOGLE_KEYS = { 'wrong key': 'not accepted 400', 'key turned away': 'not accepted 400' };

/** A queue's result has URLs, so a broken file is not a broken answer. */
const NAMED_FILES = { 'broken answer': 'delivered 2, not downloadable' };
/** Its result is requested separately from its status. */
const OF_QUEUE = { ...NAMED_FILES, 'end before result': 'delivered 2 image/png' };
/** Each of the two requests gets none of its one image. */
const ONE_BY_ONE = { ...NAMED_FILES, partial: 'not accepted 500', 'late failure': 'not accepted 200' };
const CANCELLED = { 'given up': 'cancelled at the vendor' };
/** No create is repeated, even if the channel is declared to support idempotency keys. */
const WITHOUT_KEYS = { 'lost, then repeated': 'unclear, and not to be repeated' };

/** One declaration for each protocol: the suite does the rest. */
export const vendorContracts: Readonly<Record<ChannelProtocol, VendorContract>> = {
  'openai-xai': {
    about: 'lenient: for relays that speak either, or a mixture',
    differences: { videos: NAMELESS_POLLS, videoRemixes: NAMELESS_POLLS },
  },
  openai: { about: 'sizes, edits as forms, videos at `/v1/videos`; webhooks', differences: {} },
  xai: {
    about: 'aspect ratios, edits as JSON, videos at `/v1/videos/generations`',
    differences: { videos: NAMELESS_POLLS },
  },
  gemini: {
    about: '`:predict`, `:predictLongRunning`, files; contents and counts; webhooks',
    differences: {
      every: GOOGLE_KEYS,
      // An operation has a state only, without details.
      videos: { 'unknown status': 'running, completed, the file' },
      // The images are inside the answer.
      images: { 'file that is none': 'unclear 200', 'expired file': 'delivered 2 image/png' },
    },
  },
  vertex: {
    about: "Google's models on Vertex AI: addresses with project and location, a service account for a key",
    basePath: '/vertex',
    hasAccounts: true,
    differences: {
      videos: { ...WITHOUT_KEYS, 'unknown status': 'running, completed, the file' },
      images: { 'file that is none': 'unclear 200', 'expired file': 'delivered 2 image/png' },
    },
  },
  anthropic: {
    about: 'messages, and counts of their tokens',
    differences: { every: { 'strange status': 'not accepted 529' } },
  },
  fal: {
    about: 'a queue of requests: images are waited for, videos are tasks; `Authorization: Key`; webhooks',
    basePath: '/fal',
    models: {
      images: 'fal-ai/flux/schnell',
      imageEdits: 'fal-ai/flux-pro/kontext',
      maskedEdits: 'fal-ai/flux-pro/kontext',
      videos: 'fal-ai/kling-video/v2/master/text-to-video',
      silentVideos: 'fal-ai/kling-video/v2.6/pro/text-to-video',
    },
    differences: {
      images: OF_QUEUE,
      imageEdits: OF_QUEUE,
      maskedEdits: OF_QUEUE,
      // The queue takes everything; a model refuses when it works.
      videos: {
        ...WITHOUT_KEYS,
        ...CANCELLED,
        'end before result': 'no answer, completed, the file',
        'refused input': 'failed generation_failed',
        moderation: 'failed content_policy_violation',
      },
    },
  },
  replicate: {
    about: 'predictions of models: images are waited for, videos are tasks; webhooks',
    basePath: '/replicate',
    models: {
      images: 'black-forest-labs/flux-schnell',
      videos: 'minimax/video-01',
      silentVideos: 'minimax/video-01',
    },
    differences: {
      images: { ...NAMED_FILES, 'late failure': 'not accepted 200' },
      videos: { ...WITHOUT_KEYS, ...CANCELLED, moderation: 'failed content_policy_violation' },
    },
  },
  bfl: {
    about: 'FLUX at its maker: one image a request, asked for where the vendor says; `x-key`',
    basePath: '/bfl',
    models: { images: 'flux-2-pro', imageEdits: 'flux-kontext-pro' },
    differences: {
      every: { 'wrong key': 'not accepted 403', 'key turned away': 'not accepted 403' },
      images: ONE_BY_ONE,
      imageEdits: ONE_BY_ONE,
    },
  },
  ark: {
    about: 'Seedream as OpenAI has images, one a call; Seedance as tasks',
    basePath: '/ark',
    models: {
      images: 'doubao-seedream-4-0',
      imageEdits: 'doubao-seedream-4-0',
      videos: 'doubao-seedance-1-0',
      silentVideos: 'doubao-seedance-1-5-pro',
    },
    differences: {
      images: { partial: 'not accepted 500' },
      imageEdits: { partial: 'not accepted 500' },
      videos: { ...WITHOUT_KEYS, ...CANCELLED },
    },
  },
  mesh3d: { about: 'drafts and textures at `/v1/3d/generations`', differences: {} },
  meshy: {
    about: 'previews and their refinement, meshes of images and their textures, each at a path of its own',
    basePath: '/meshy',
    differences: { assets3d: WITHOUT_KEYS },
  },
};

/** The cases of an operation as a protocol has to meet them. */
export function casesFor(protocol: ChannelProtocol, operation: Capability): ContractCase[] {
  const { every = {}, [operation]: own = {} } = vendorContracts[protocol].differences;
  return [...casesOf[operation].values()].map((each) => ({
    ...each,
    outcome: own[each.name] ?? every[each.name] ?? each.outcome,
  }));
}
