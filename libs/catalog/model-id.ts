/** The longest model id. Vendors' ids with an owner and a version in front are much shorter. */
export const MAX_MODEL_ID_CHARS = 200;

/**
 * Ids as vendors write them, such as `openai/gpt-image-1`, `black-forest-labs/FLUX.1` or `llama-3:free`. Each part
 * between slashes starts with a letter or digit, so none is empty or a dot segment that an address would lose. The
 * database has the same rule.
 */
export const MODEL_ID = /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._:-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)*$/;
