/** The longest id of a model; those of vendors with their owner and a version in front stay far below. */
export const MAX_MODEL_ID_CHARS = 200;

/**
 * Ids as vendors write them, such as `openai/gpt-image-1`, `black-forest-labs/FLUX.1` or `llama-3:free`. Each part between
 * slashes begins with a letter or digit, so that none is empty or a dot segment that an address would lose. The database
 * holds the same rule.
 */
export const MODEL_ID = /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._:-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)*$/;
