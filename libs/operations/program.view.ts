import { z } from 'zod';
import { routings } from '#catalog/channel-order.js';
import { timeView, wordView } from '#platform/http/fields.js';
import { failureKinds } from '#upstream/health/breaker.js';

const states = z.enum(['closed', 'half_open', 'open']);
const programs = z.enum(['gateway', 'worker', 'billing', 'control-plane']);
const counts = z.record(z.string(), z.number());
const count = z.number();
const ms = z.number().nullable();

const pace = z
  .object({
    perSecond: count,
    outcomes: counts.meta({ description: 'The count per outcome, such as `2xx` or `handled`.' }),
    p50Ms: ms,
    p99Ms: ms,
  })
  .meta({ id: 'ProgramPace' });

const vitals = {
  model: z.string().nullable().meta({
    description: 'The model of the circuit. Null for polls and token counts, which cover all models.',
  }),
  state: states.meta({ description: 'The state of the circuit. `open` blocks all calls.' }),
  inFlight: count,
  failures: count.meta({ description: 'Failures since the last success.' }),
  openedAt: timeView.nullable(),
  lastFailure: z
    .object({
      at: timeView,
      kind: wordView(failureKinds).nullable().meta({
        description:
          '`not_accepted`: the upstream provably did not accept the call; `unknown`: it may have; `no_answer`: a poll without an answer. Null from programs of an earlier version.',
      }),
      reason: z.string().meta({ description: 'In English, or in the words of the vendor or the network.' }),
      status: z.int().nullable(),
    })
    .nullable(),
  p50Ms: ms,
  p99Ms: ms,
  latencyMs: ms.meta({
    description: 'The median of the latest calls that were served: what `latency` routes by.',
  }),
};

const report = z
  .object({
    messages: pace.meta({ description: 'Bus messages.' }),
    lag: z.array(z.object({ topic: z.string(), group: z.string(), messages: count })),
    outbox: z.object({ rows: count, oldestSeconds: count }).nullable(),
    memoryBytes: count,
    requests: pace
      .extend({ inFlight: count })
      .optional()
      .meta({ description: 'Client requests (gateways only).' }),
    holds: counts.optional(),
    undeliverable: count.optional(),
    polls: pace.optional().meta({ description: 'Polls of tasks (workers only).' }),
    following: count.optional(),
    oldestDueSeconds: count.nullable().optional(),
    ended: counts.optional(),
    copies: counts.optional(),
    swept: count.optional(),
    repairs: count.optional().meta({ description: 'Billing only, like the next two. Should stay 0.' }),
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
      .meta({ description: 'A report is overdue: the process has died or is unreachable.' }),
    report: report.meta({
      description: 'Rates and outcomes cover the last minute; totals count from the start.',
    }),
  })
  .meta({ id: 'Program' });

/** The route of a model's calls. */
export const modelRouteView = z
  .object({
    routing: z.enum(routings),
    channels: z
      .array(
        z.object({
          channelId: z.string(),
          groups: z.array(z.string()).meta({ description: 'Whose keys it serves.' }),
          priority: z.int(),
          weight: z.int(),
          cost: z.string().nullable().meta({
            description:
              'What the upstream takes now, USD: of a call or a second, or of a million tokens in and a million out. Null: not known.',
          }),
          latencyMs: ms.meta({
            description: 'The median of the latest served calls in the slowest gateway. Null: not known.',
          }),
          state: states.meta({
            description: 'Open: it takes no calls at the moment in some gateway.',
          }),
        }),
      )
      .meta({ description: 'In the order in which they are tried; by weight, in the most likely one.' }),
  })
  .meta({ id: 'ModelRoute' });

export const channelHealthView = z
  .object({
    channelId: z.string(),
    enabled: z.boolean(),
    runningTasks: z.int().meta({
      description: 'Tasks in progress on the channel. A disabled channel takes no new tasks and drains.',
    }),
    programs: z.array(z.object({ program: programs, instance: z.string(), reportedAt: timeView, ...vitals })),
  })
  .meta({ id: 'ChannelHealth' });
