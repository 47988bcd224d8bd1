/** A name in a query, such as `:since`; a cast such as `::text` is none. */
const NAME = /(?<![:\w]):([a-z]\w*)/gi;

/**
 * A query whose values use names, as the driver takes it: parts that are put together need not agree on who is $1. Only
 * the values that the text names are passed. Its text holds no literal with a colon before a letter.
 */
export function named(
  sql: string,
  values: Readonly<Record<string, unknown>>,
): { text: string; values: unknown[] } {
  const names: string[] = [];
  const text = sql.replace(NAME, (_, name: string) => {
    if (!Object.hasOwn(values, name)) throw new Error(`the query names ${name}, which is not given`);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, values: names.map((name) => values[name]) };
}
