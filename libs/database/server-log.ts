/** What the server said last that is worth a sentence: its FATAL line rather than the hint after it. */
export function lastLine(text: string): string {
  const lines = text.trim().split('\n').slice(-8);
  const fatal = lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? '';
  const hint = lines.slice(lines.indexOf(fatal) + 1).filter((line) => /HINT|DETAIL/.test(line));
  return [fatal, ...hint].join(' ').trim();
}
