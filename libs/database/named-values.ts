/** A name in a query, such as `:since`, but not a cast such as `::text`. */
const NAME = /(?<![:\w]):([a-z]\w*)/gi;

/**
 * A query with named values, converted for the driver: parts that are put together do not have to agree about $1. Only
 * the named values are passed. Its text must not contain a literal with a colon before a letter.
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
