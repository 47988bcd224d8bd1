/** Bounds of the HTTP edge, each with its reason. Durations that tests shorten are configuration instead. */

/** JSON of a few text fields; a prompt of the longest kind in escapes takes 200 kB. */
export const JSON_BODY_BYTES = 256 * 1024;
/** A video create may carry a picture, which is then refused by name and not by its size. */
export const VIDEO_BODY_BYTES = 70 * 1024 * 1024;
/** Chat bodies carry photos as base64. */
export const CHAT_BODY_BYTES = 20 * 1024 * 1024;

/** OpenAI's own limit for image prompts. */
export const MAX_PROMPT_CHARS = 32_000;
export const MAX_MODEL_CHARS = 100;

/** The parts of a multipart create: a dozen known fields with room for what SDKs add. */
export const MULTIPART = {
  fields: 50,
  fieldBytes: 200 * 1024,
  files: 4,
  fileBytes: 64 * 1024 * 1024,
} as const;

/** Ids and model names in paths; a longer one still gets its 404 from the route. Request lines end at 16 kB. */
export const MAX_PATH_PARAM_CHARS = 12_000;
/** The time a client has to send its headers, and its whole request. */
export const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the idle time of the usual load balancer (60 s), so that it is never us who close first. */
export const KEEP_ALIVE_MS = 75_000;
