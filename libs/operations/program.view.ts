import { z } from 'zod';
import { timeView } from '#platform/http/fields.js';

const programs = z.enum(['gateway', 'worker', 'billing', 'control-plane']);
const counts = z.record(z.string(), z.number());
const count = z.number();
const ms = z.number().nullable();

const pace = z
  .object({
    perSecond: count,
    outcomes: counts.meta({ description: 'How many ended with each outcome, such as `2xx` or `handled`.' }),
    p50Ms: ms,
    p99Ms: ms,
  })
  .meta({ id: 'ProgramPace' });

const vitals = {
  model: z.string().nullable().meta({
    description: 'What the circuit is of. Null: polls, which are of every model.',
  }),
  state: z
    .enum(['closed', 'half_open', 'open'])
    .meta({ description: 'The circuit: open lets no call through.' }),
  inFlight: count,
  failures: count.meta({ description: 'Since a call succeeded.' }),
  openedAt: timeView.nullable(),
  lastFailure: z.object({ at: timeView, reason: z.string(), status: z.int().nullable() }).nullable(),
  p50Ms: ms,
  p99Ms: ms,
};

const report = z
  .object({
    messages: pace.meta({ description: 'Of the bus.' }),
    lag: z.array(z.object({ topic: z.string(), group: z.string(), messages: count })),
    outbox: z.object({ rows: count, oldestSeconds: count }).nullable(),
    memoryBytes: count,
    requests: pace.extend({ inFlight: count }).optional().meta({ description: 'Of clients; of gateways.' }),
    holds: counts.optional(),
    undeliverable: count.optional(),
    polls: pace.optional().meta({ description: 'Questions about tasks; of workers.' }),
    following: count.optional(),
    oldestDueSeconds: count.nullable().optional(),
    ended: counts.optional(),
    copies: counts.optional(),
    swept: count.optional(),
    repairs: count.optional().meta({ description: 'Of billing, as the next two; should stay 0.' }),
    holdsSwept: count.optional(),
    lateSuccesses: count.optional(),
  })
  .meta({ id: 'ProgramReport' });

export const programView = z
  .object({
    program: programs,
    instance: z.string(),
    version: z.string(),
    host: z.string(),
    startedAt: timeView,
    reportedAt: timeView,
    isSilent: z
      .boolean()
      .meta({ description: 'It should have said something since: it died, or is cut off.' }),
    report: report.meta({
      description: 'Rates and outcomes are of the last minute; totals since the start.',
    }),
  })
  .meta({ id: 'Program' });

export const channelHealthView = z
  .object({
    channelId: z.string(),
    enabled: z.boolean(),
    runningTasks: z.int().meta({
      description: 'Tasks that the channel works on. Of a disabled channel: it takes nothing new and drains.',
    }),
    programs: z.array(z.object({ program: programs, instance: z.string(), reportedAt: timeView, ...vitals })),
  })
  .meta({ id: 'ChannelHealth' });
