/**
 * Tokens of a call as decimal integers. Input read from or written to a cache is counted separately. Programs of the previous
 * version count written tokens as input.
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
