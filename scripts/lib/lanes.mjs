// What of `npm test` runs at the same time.

/** One more than the two cores of a small machine: specs also wait, for the database, for a page or for a program to start. */
const LANES = 3;

/**
 * Runs stages at the same time, begun in the order of their list as soon as there is a lane for them. The build is alone.
 * @param {import('./stages.mjs').Stage[]} stages
 * @param {(stage: import('./stages.mjs').Stage) => Promise<void>} run
 */
export async function inLanes(stages, run) {
  const running = new Map();
  let free = LANES;
  for (const stage of stages) {
    const lanes = lanesOf(stage);
    while (free < lanes || running.has(stage.after)) await Promise.race(running.values());
    free -= lanes;
    const ended = run(stage).then(() => {
      free += lanes;
      running.delete(stage.name);
    });
    running.set(stage.name, ended);
  }
  await Promise.all(running.values());
}

function lanesOf({ name, wide }) {
  if (name === 'build') return LANES;
  return wide ? LANES - 1 : 1;
}
