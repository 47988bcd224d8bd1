import { Counter, Histogram, type Registry } from '#platform/metrics.js';
import type { Answer, Command } from './batch.js';
import { BrokenRule } from './charge.js';

interface FinishedBatch {
  commands: readonly Command[];
  answers: readonly Answer[];
  isProved: boolean;
  elapsedMs: number;
}

/** What the posting engine counts. */
export class EngineMetrics {
  readonly reruns: Counter;
  private readonly postings: Counter;
  private readonly batches: Counter;
  private readonly batchSize: Histogram;
  private readonly batchSeconds: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.reruns = new Counter({
      name: 'tollgate_ledger_batch_reruns_total',
      help: 'Batches retried after a conflict or deadlock',
      registers,
    });
    this.postings = new Counter({
      name: 'tollgate_ledger_postings_total',
      help: 'Postings by outcome',
      labelNames: ['outcome'],
      registers,
    });
    this.batches = new Counter({
      name: 'tollgate_ledger_batches_total',
      help: 'Batches by how they were decided: from memory and verified when written, or under locks',
      labelNames: ['decided'],
      registers,
    });
    this.batchSize = new Histogram({
      name: 'tollgate_ledger_batch_size',
      help: 'Postings per batch',
      buckets: [1, 4, 16, 64, 256, 1024],
      registers,
    });
    this.batchSeconds = new Histogram({
      name: 'tollgate_ledger_batch_seconds',
      help: 'Duration of a batch from connection to commit',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
      registers,
    });
  }

  observe({ commands, answers, isProved, elapsedMs }: FinishedBatch): void {
    if (answers.every((answer) => answer instanceof Error && !(answer instanceof BrokenRule))) return;
    this.batches.inc({ decided: isProved ? 'proved' : 'locked' });
    this.batchSize.observe(commands.length);
    this.batchSeconds.observe(elapsedMs / 1000);
    for (const answer of answers) {
      if (answer instanceof BrokenRule) this.postings.inc({ outcome: 'broken_rule' });
      else if (!(answer instanceof Error)) this.postings.inc({ outcome: answer.outcome });
    }
  }
}
