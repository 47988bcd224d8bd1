// What of `npm test` runs at the same time.

/**
 * Runs stages in two rows, each in the order of the list: the wide ones, which keep two cores busy, and beside them the others.
 * Each row has one lane. A stage has it to itself, but two light ones share it. The build runs alone.
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
  await Promise.all(parted(rest, ({ wide }) => wide).map((row) => inOneLane(row, begin)));
}

async function inOneLane(stages, begin) {
  const running = new Set();
  let free = 1;
  for (const stage of stages) {
    const part = stage.light ? 1 / 2 : 1;
    while (free < part) await Promise.race(running);
    free -= part;
    const ended = begin(stage).then(() => {
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
