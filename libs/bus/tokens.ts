/**
 * Tokens of a call as decimal integers; input that was read from a cache, or written into one, is counted apart. Programs of
 * the version before count what was written as input.
 */
export interface Tokens {
  input: string;
  cachedInput: string;
  output: string;
  /** Written for five minutes. */
  cacheWrite?: string;
  /** Written for an hour. */
  cacheWrite1h?: string;
  /** Of images and sound, which are not among the others. */
  imageInput?: string;
  cachedImageInput?: string;
  imageOutput?: string;
  audioInput?: string;
  cachedAudioInput?: string;
  audioOutput?: string;
}
