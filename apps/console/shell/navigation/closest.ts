/** Sorts pages by how similar their paths are to a path, counting common pairs of letters. */
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
