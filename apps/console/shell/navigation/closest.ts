/** Pages in the order in which their addresses are like a path: by the pairs of letters that both have. */
export function closestTo<Page extends { to: string }>(path: string, pages: readonly Page[]): Page[] {
  const wanted = pairsOf(path);
  const likeness = ({ to }: Page) => {
    const own = pairsOf(to);
    return [...own].filter((pair) => wanted.has(pair)).length / (own.size + wanted.size);
  };
  return pages.toSorted((one, other) => likeness(other) - likeness(one));
}

function pairsOf(text: string): Set<string> {
  return new Set(
    Array.from(text.toLowerCase(), (letter, index) => letter + (text[index + 1] ?? '').toLowerCase()),
  );
}
