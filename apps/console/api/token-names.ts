/** Images and sound; where a price or a cost leaves them out, they are charged as text. */
export const mediaTokenNames = [
  'imageInput',
  'cachedImageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
] as const;

/** Amounts of a price by the token that may be left out: they follow from the others. */
export const optionalTokenNames = ['cacheWrite', 'cacheWrite1h', ...mediaTokenNames] as const;
