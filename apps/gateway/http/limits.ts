/** Bounds of the HTTP edge, each with its reason. Durations that tests shorten are configuration instead. */

/** JSON of a few text fields; a prompt of the longest kind in escapes takes 200 kB. */
export const JSON_BODY_BYTES = 256 * 1024;
/** A video create may carry a picture, which is then refused by name and not by its size. */
export const VIDEO_BODY_BYTES = 70 * 1024 * 1024;
/** Chat bodies carry photos as base64. */
export const CHAT_BODY_BYTES = 20 * 1024 * 1024;

/** One picture of a request, as OpenAI bounds it. */
export const MAX_PICTURE_BYTES = 50 * 1024 * 1024;
/** A request's pictures together: all of them are in memory until the upstream has them. */
export const MAX_PICTURES_BYTES = 100 * 1024 * 1024;
export const MAX_PICTURES = 16;
/** The pictures of a request in base64, with its other fields. */
export const PICTURES_BODY_BYTES = Math.ceil((MAX_PICTURES_BYTES * 4) / 3) + JSON_BODY_BYTES;
/** How long the pictures that a request names by address may take to fetch, all at once. */
export const PICTURE_FETCH_MS = 20_000;

/** OpenAI's own limit for image prompts. */
export const MAX_PROMPT_CHARS = 32_000;
export const MAX_MODEL_CHARS = 100;
/** Sizes, aspect ratios and resolutions: `10000x10000` and what vendors call theirs. */
export const MAX_SHAPE_CHARS = 20;
/** OpenAI's own limit for a text to be spoken. */
export const MAX_SPEECH_CHARS = 4_096;

/** The parts of a multipart create: a dozen known fields with room for what SDKs add. */
export const MULTIPART = {
  fields: 50,
  fieldBytes: 200 * 1024,
  files: 4,
  fileBytes: 64 * 1024 * 1024,
} as const;

/** An edit's pictures come as files or as text; the sum bounds both. */
export const PICTURES_FORM = {
  fields: 50,
  fieldBytes: Math.ceil((MAX_PICTURE_BYTES * 4) / 3) + 1024,
  files: MAX_PICTURES + 1,
  fileBytes: MAX_PICTURE_BYTES,
  keptBytes: PICTURES_BODY_BYTES,
} as const;

/** Ids and model names in paths; a longer one still gets its 404 from the route. Request lines end at 16 kB. */
export const MAX_PATH_PARAM_CHARS = 12_000;
/** The time a client has to send its headers, and its whole request. */
export const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the idle time of the usual load balancer (60 s), so that it is never us who close first. */
export const KEEP_ALIVE_MS = 75_000;
