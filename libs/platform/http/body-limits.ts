/** The largest bodies of calls of models, for the gateway and for programs that hand such calls on to it. */

/** JSON of a few text fields; a prompt of the longest kind in escapes takes 200 kB. */
export const JSON_BODY_BYTES = 256 * 1024;
/** A video create may carry an image, which is then refused by name and not by its size. */
export const VIDEO_BODY_BYTES = 70 * 1024 * 1024;
/** Chat bodies carry photos as base64. */
export const CHAT_BODY_BYTES = 20 * 1024 * 1024;
/** A request's images together: all of them are in memory until the upstream has them. */
export const MAX_PICTURES_BYTES = 100 * 1024 * 1024;
/** The images of a request in base64, with its other fields. */
export const PICTURES_BODY_BYTES = Math.ceil((MAX_PICTURES_BYTES * 4) / 3) + JSON_BODY_BYTES;

/** A body but for its long texts, where those are images: it is parsed at once. */
export const PLAIN_BODY_BYTES = 1024 * 1024;
/** The same of a chat, whose many short messages are all plain. */
export const CHAT_PLAIN_BYTES = 8 * 1024 * 1024;
