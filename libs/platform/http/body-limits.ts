/** The largest bodies of calls to models, for the gateway and for programs that forward such calls to it. */

/** JSON with a few text fields. The longest prompt with escapes takes 200 kB. */
export const JSON_BODY_BYTES = 256 * 1024;
/** A video create may contain an image, which is then refused by name and not by its size. */
export const VIDEO_BODY_BYTES = 70 * 1024 * 1024;
/** Chats contain photos as base64. */
export const CHAT_BODY_BYTES = 20 * 1024 * 1024;
/** All images of a request together. They are in memory until the upstream has them. */
export const MAX_INPUT_IMAGES_BYTES = 100 * 1024 * 1024;
/** The images of a request in base64, with its other fields. */
export const IMAGES_BODY_BYTES = Math.ceil((MAX_INPUT_IMAGES_BYTES * 4) / 3) + JSON_BODY_BYTES;

/** A body without its long texts, which are images there. It is parsed at once. */
export const PLAIN_BODY_BYTES = 1024 * 1024;
/** The same for a chat, whose many short messages are all parsed. */
export const CHAT_PLAIN_BYTES = 8 * 1024 * 1024;
