/** Image and audio tokens, which are charged as text if a price or cost leaves them out. */
export const mediaTokenNames = [
  'imageInput',
  'cachedImageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
] as const;

/** Types of tokens that a price may leave out, because they follow from the others. */
export const optionalTokenNames = ['cacheWrite', 'cacheWrite1h', ...mediaTokenNames] as const;
