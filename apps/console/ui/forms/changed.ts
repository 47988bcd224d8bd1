/** The changed values, and what they were: the server refuses them if another person has changed them since. */
export function editFrom<Values extends object>(before: Values, after: Values) {
  const changed = changedIn(before, after);
  const was = Object.fromEntries(
    (Object.keys(changed) as (keyof Values)[]).map((name) => [name, before[name]]),
  );
  return { ...changed, was: was as Partial<Values> };
}

/** The values that differ from before. */
export function changedIn<Values extends object>(before: Values, after: Values): Partial<Values> {
  const names = Object.keys(after) as (keyof Values)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<Values>;
}
