// Which stages of `npm test` run at the same time.

/**
 * Runs stages in two rows, each in the order of the list: the wide ones, which keep two cores busy, and beside them the others.
 * Each row has one lane. A stage has it to itself, but two light ones share it. When the wide ones have ended, their lane takes
 * what is left of the others. The build runs alone.
 * @param {import('./stages.mjs').Stage[]} stages
 * @param {(stage: import('./stages.mjs').Stage) => Promise<void>} run
 */
export async function inLanes(stages, run) {
  const ends = new Map(stages.map(({ name }) => [name, Promise.withResolvers()]));
  const begin = async (stage) => {
    await ends.get(stage.after)?.promise;
    await run(stage);
    ends.get(stage.name).resolve();
  };
  const [before, rest] = parted(stages, ({ name }) => name === 'build');
  await inOneLane(before, begin);
  const [wide, others] = parted(rest, (stage) => stage.wide);
  await Promise.all([inOneLane(wide, begin).then(() => inOneLane(others, begin)), inOneLane(others, begin)]);
}

/** Takes stages from the row until none is left. */
async function inOneLane(row, begin) {
  const running = new Set();
  let free = 1;
  while (row.length > 0) {
    const part = row[0].light ? 1 / 2 : 1;
    if (free < part) {
      await Promise.race(running);
      continue;
    }
    free -= part;
    const ended = begin(row.shift()).then(() => {
      free += part;
      running.delete(ended);
    });
    running.add(ended);
  }
  await Promise.all(running);
}

function parted(stages, isFirst) {
  return [stages.filter((stage) => isFirst(stage)), stages.filter((stage) => !isFirst(stage))];
}
