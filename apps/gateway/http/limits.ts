import { MAX_MODEL_ID_CHARS } from '#catalog/model-id.js';
import {
  CHAT_BODY_BYTES,
  CHAT_PLAIN_BYTES,
  IMAGES_BODY_BYTES,
  VIDEO_BODY_BYTES,
} from '#platform/http/body-limits.js';

/** Limits of the HTTP edge, each with its reason. Durations that tests shorten are configuration instead. */
export {
  CHAT_PLAIN_BYTES,
  JSON_BODY_BYTES,
  MAX_INPUT_IMAGES_BYTES,
  IMAGES_BODY_BYTES,
  PLAIN_BODY_BYTES,
  VIDEO_BODY_BYTES,
} from '#platform/http/body-limits.js';

/** One image of a request, as OpenAI bounds it. */
export const MAX_INPUT_IMAGE_BYTES = 50 * 1024 * 1024;
export const MAX_INPUT_IMAGES = 16;
/** What a phone takes at its best; each pixel is four bytes while an image is read. */
export const MAX_IMAGE_PIXELS = 50_000_000;
/** Vendors cut an image into tiles: a narrower one has more of them than are held for (`token-estimate.ts`). */
export const MAX_IMAGE_TIMES_AS_LONG = 32;
/** An image of this many pixels takes about a second. */
export const IMAGE_READ_MS = 10_000;
/** How long fetching all images of a request by URL can take. */
export const IMAGE_FETCH_MS = 20_000;

/** OpenAI's own limit for image prompts. */
export const MAX_PROMPT_CHARS = 32_000;
export const MAX_MODEL_CHARS = MAX_MODEL_ID_CHARS;
/** Sizes, aspect ratios and resolutions: `10000x10000` and what vendors call theirs. */
export const MAX_SHAPE_CHARS = 20;
/** Texts of one request for embeddings: with vectors of 4,096 numbers as decimals, their answer stays below 24 MB. */
export const MAX_EMBEDDED = 256;
/** OpenAI's own limit for a text to be spoken. */
export const MAX_SPEECH_CHARS = 4_096;

/** The parts of a multipart create: a dozen known fields with room for what SDKs add. */
export const MULTIPART = {
  fields: 50,
  fieldBytes: 200 * 1024,
  files: 4,
  fileBytes: 64 * 1024 * 1024,
} as const;

/** A conversation may contain images, which are long texts. */
export const CHAT_BODY = { bodyLimit: CHAT_BODY_BYTES, plainLimit: CHAT_PLAIN_BYTES } as const;
export const VIDEO_BODY = { bodyLimit: VIDEO_BODY_BYTES, multipart: MULTIPART } as const;

/** An edit's images come as files or as text; the sum bounds both. */
export const IMAGES_FORM = {
  fields: 50,
  fieldBytes: Math.ceil((MAX_INPUT_IMAGE_BYTES * 4) / 3) + 1024,
  files: MAX_INPUT_IMAGES + 1,
  fileBytes: MAX_INPUT_IMAGE_BYTES,
  keptBytes: IMAGES_BODY_BYTES,
} as const;

/** A file of sound, as OpenAI bounds it. */
export const MAX_SOUND_BYTES = 25 * 1024 * 1024;
/** The file with its fields and their boundaries. */
const SOUND_BODY_BYTES = MAX_SOUND_BYTES + 1024 * 1024;
const SOUND_FORM = {
  fields: 20,
  fieldBytes: 128 * 1024,
  files: 1,
  fileBytes: MAX_SOUND_BYTES,
  keptBytes: SOUND_BODY_BYTES,
} as const;
export const SOUND_BODY = { bodyLimit: SOUND_BODY_BYTES, multipart: SOUND_FORM } as const;
/** Of a language, such as `en` or `zh-Hant-TW`. */
export const MAX_LANGUAGE_CHARS = 20;

/** A vendor's webhook: the request, result and log of a task. Longer ones are refused; the task is still polled. */
export const WEBHOOK_BODY_BYTES = 64 * 1024;

/** Ids and model names in paths; a longer one still gets its 404 from the route. Request lines end at 16 kB. */
export const MAX_PATH_PARAM_CHARS = 12_000;
/** The time a client has to send its headers, and its whole request. */
export const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the idle timeout of usual load balancers (60 s), so that the gateway never closes first. */
export const KEEP_ALIVE_MS = 75_000;
