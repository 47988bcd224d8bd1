import type { Mutant } from './mutant.js';
import { type Tests, Tree } from './tree.js';

type Outcome = 'found' | 'survived' | 'broken';

export interface Hunted {
  id: string;
  fault: string;
  file: string;
  spec: string;
  outcome: Outcome;
  /** Why the spec could not run. */
  why: string | null;
  seconds: number;
}

interface HuntOptions {
  /** How many copies of the sources, each running one spec. */
  copies: number;
  say: (text: string) => void;
}

/** Plants each fault in a copy of the sources and runs the spec that must find it, several at a time. */
export class Hunt {
  private readonly trees: Tree[] = [];
  private isOver = false;

  constructor(private readonly options: HuntOptions) {}

  /** @throws Error if a spec fails without a fault, because then it proves nothing */
  async run(mutants: readonly Mutant[]): Promise<Hunted[]> {
    for (let count = 0; count < this.options.copies && !this.isOver; count += 1)
      this.trees.push(await Tree.copy());
    this.options.say('running the specs without a fault');
    const red = (await this.each(testsOf(mutants), (tree, tests) => this.whyRed(tree, tests))).flat();
    if (red.length > 0)
      throw new Error(`Specs that do not pass without a fault prove nothing:\n${red.join('\n')}`);
    const hunted = await this.each(mutants, (tree, mutant) => this.hunt(tree, mutant));
    return mutants.map(({ id }) => hunted.find((each) => each.id === id) as Hunted);
  }

  /** Ends running specs and removes the copies. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.trees.splice(0).map((tree) => tree.remove()));
  }

  private async whyRed(tree: Tree, { spec, names }: Tests): Promise<string[]> {
    const { passed, failed, broken } = await tree.run({ spec, names });
    if (passed > 0 && failed === 0 && broken === null) return [];
    return [`${spec}: ${broken ?? `${failed} tests fail, ${passed} pass`}`];
  }

  private async hunt(tree: Tree, mutant: Mutant): Promise<Hunted> {
    const { id, fault, file, spec, test } = mutant;
    const startedMs = performance.now();
    const { failed, broken } = await tree.withMutant(mutant, {
      spec,
      names: test === undefined ? [] : [test],
    });
    const outcome = broken !== null ? 'broken' : failed > 0 ? 'found' : 'survived';
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    this.options.say(`${outcome.padEnd(8)} ${id}: ${fault} (${seconds} s)`);
    return { id, fault, file, spec, outcome, why: broken, seconds };
  }

  /** Each copy takes the next item once it has finished one. */
  private async each<T, R>(items: readonly T[], work: (tree: Tree, item: T) => Promise<R>): Promise<R[]> {
    const left = [...items];
    const results: R[] = [];
    const inTurn = async (tree: Tree) => {
      for (let item = left.shift(); item !== undefined; item = left.shift())
        results.push(await work(tree, item));
    };
    await Promise.all(this.trees.map(inTurn));
    return results;
  }
}

/** The tests that have to find the mutants, each spec once. */
function testsOf(mutants: readonly Mutant[]): Tests[] {
  const bySpec = Map.groupBy(mutants, ({ spec }) => spec);
  return [...bySpec].map(([spec, own]) => {
    const names = own.flatMap(({ test }) => test ?? []);
    return { spec, names: names.length === own.length ? [...new Set(names)] : [] };
  });
}
