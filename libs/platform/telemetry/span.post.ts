import type { Context } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../logging.js';
import { Counter, type Registry } from '../metrics.js';

export interface SpanPostOptions {
  registry: Registry;
  log: Logger;
  /** How long a batch is retried, in milliseconds. */
  timeoutMs: number;
}

/** Some megabytes. If more is waiting, the collector cannot keep up. */
const MAX_WAITING = 4_096;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 1_000;

/** Sends spans in batches in the background, and counts those that it has to drop. It delays nothing and is limited. */
export class SpanPost implements SpanProcessor {
  private readonly batches: BatchSpanProcessor;
  private readonly spans: Counter<'outcome'>;
  private waiting = 0;
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly options: SpanPostOptions,
  ) {
    this.spans = new Counter({
      name: 'tollgate_trace_spans_total',
      help: 'Recorded spans by outcome: sent, failed (the collector rejected them), or dropped (too many were waiting).',
      labelNames: ['outcome'],
      registers: [options.registry],
    });
    this.batches = new BatchSpanProcessor({
      exporter: this.countingExporter(),
      maxQueueSize: MAX_WAITING,
      maxExportBatchSize: MAX_BATCH,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: options.timeoutMs,
    });
  }

  onStart(span: Span, context: Context): void {
    this.batches.onStart(span, context);
  }

  onEnd(span: ReadableSpan): void {
    if (this.waiting >= MAX_WAITING) return this.spans.inc({ outcome: 'dropped' });
    this.waiting += 1;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.batches.shutdown();
  }

  private countingExporter(): SpanExporter {
    const { exporter } = this;
    return {
      export: (spans, done) => {
        this.waiting -= spans.length;
        exporter.export(spans, (result) => {
          const isSent = result.code === ExportResultCode.SUCCESS;
          this.spans.inc({ outcome: isSent ? 'sent' : 'failed' }, spans.length);
          this.report(isSent, result.error);
          done(result);
        });
      },
      forceFlush: async () => exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    };
  }

  /** Once for each change, so that a missing collector does not fill the log. */
  private report(isSent: boolean, error: Error | undefined): void {
    if (this.isFailing === !isSent) return;
    this.isFailing = !isSent;
    const { log } = this.options;
    if (isSent) log.info('the trace collector accepts spans again');
    else log.warn({ reason: error?.message }, 'the trace collector does not accept spans; they are dropped');
  }
}
