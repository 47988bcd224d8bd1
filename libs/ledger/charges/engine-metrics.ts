import { Metrics } from '#platform/metrics.js';
import type { Answer, Command } from './batch.js';
import { BrokenRule } from './charge.js';

interface FinishedBatch {
  commands: readonly Command[];
  answers: readonly Answer[];
  isProved: boolean;
  elapsedMs: number;
}

export class EngineMetrics extends Metrics {
  readonly reruns = this.counter(
    'tollgate_ledger_batch_reruns_total',
    'Batches retried after a conflict or deadlock',
  );
  private readonly postings = this.counter('tollgate_ledger_postings_total', 'Postings by outcome', [
    'outcome',
  ]);
  private readonly batches = this.counter(
    'tollgate_ledger_batches_total',
    'Batches by how they were decided: from memory and verified when written, or under locks',
    ['decided'],
  );
  private readonly batchSize = this.histogram(
    'tollgate_ledger_batch_size',
    'Postings per batch',
    [1, 4, 16, 64, 256, 1024],
  );
  private readonly batchSeconds = this.histogram(
    'tollgate_ledger_batch_seconds',
    'Duration of a batch from connection to commit',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
  );

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
