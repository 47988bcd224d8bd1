interface Part {
  data: unknown;
  error: unknown;
  refetch: () => unknown;
}

/** Several queries as one, whose answer is all of theirs by name. */
export function together<Parts extends Record<string, Part>>(parts: Parts) {
  type Answers = { [Name in keyof Parts]: Exclude<Parts[Name]['data'], undefined> };
  const all = Object.values(parts);
  const answers = Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [name, data]));
  return {
    data: all.every(({ data }) => data !== undefined) ? (answers as Answers) : undefined,
    error: all.find(({ error }) => error)?.error ?? null,
    refetch: () => Promise.all(all.map((part) => part.refetch())),
  };
}
