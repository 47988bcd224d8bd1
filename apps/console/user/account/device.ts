/** In the order in which they name each other: Edge says that it is Chrome, and Chrome that it is Safari. */
const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/curl\//, 'curl'],
] as const;

const SYSTEMS = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Android/, 'Android'],
  [/Linux/, 'Linux'],
] as const;

/** A browser and its system in two words, as far as it names them; null where it does not. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const known = [BROWSERS, SYSTEMS].flatMap((names) => {
    const found = names.find(([pattern]) => pattern.test(userAgent));
    return found ? [found[1]] : [];
  });
  return known.length > 0 ? known.join(', ') : null;
}
