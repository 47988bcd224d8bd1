/** The order matters: Edge also claims to be Chrome, and Chrome to be Safari. */
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

/** Null if the browser does not say. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const known = [BROWSERS, SYSTEMS].flatMap((names) => {
    const found = names.find(([pattern]) => pattern.test(userAgent));
    return found ? [found[1]] : [];
  });
  return known.length > 0 ? known.join(', ') : null;
}
