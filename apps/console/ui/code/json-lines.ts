/** Indents JSON; other text stays as it is. */
export function jsonLines(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
