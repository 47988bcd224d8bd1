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
    outcomes: counts.describe('The count per outcome, such as `2xx` or `handled`.'),
    p50Ms: ms,
    p99Ms: ms,
  })
  .meta({ id: 'ProgramPace' });

const vitals = {
  model: z
    .string()
    .nullable()
    .describe('The model of the circuit. Null for polls and token counts, which cover all models.'),
  state: states.describe('The state of the circuit. `open` blocks all calls.'),
  inFlight: count,
  failures: count.describe('Failures since the last success.'),
  openedAt: timeView.nullable(),
  lastFailure: z
    .object({
      at: timeView,
      kind: wordView(failureKinds)
        .nullable()
        .describe(
          '`not_accepted`: the upstream provably did not accept the call; `unknown`: it may have; `no_answer`: a poll without an answer. Null from programs of an earlier version.',
        ),
      reason: z.string().describe('In English, or in the words of the vendor or the network.'),
      status: z.int().nullable(),
    })
    .nullable(),
  p50Ms: ms,
  p99Ms: ms,
  latencyMs: ms.describe('The median of the latest calls that were served: what `latency` routes by.'),
};

const report = z
  .object({
    messages: pace.describe('Bus messages.'),
    lag: z.array(z.object({ topic: z.string(), group: z.string(), messages: count })),
    outbox: z.object({ rows: count, oldestSeconds: count }).nullable(),
    memoryBytes: count,
    requests: pace.extend({ inFlight: count }).optional().describe('Client requests (gateways only).'),
    holds: counts.optional(),
    undeliverable: count.optional(),
    polls: pace.optional().describe('Polls of tasks (workers only).'),
    following: count.optional(),
    oldestDueSeconds: count.nullable().optional(),
    ended: counts.optional(),
    copies: counts.optional(),
    swept: count.optional(),
    repairs: count.optional().describe('Billing only, like the next two. Should stay 0.'),
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
    isSilent: z.boolean().describe('A report is overdue: the process has died or is unreachable.'),
    report: report.describe('Rates and outcomes cover the last minute; totals count from the start.'),
  })
  .meta({ id: 'Program' });

export const modelRouteView = z
  .object({
    routing: z.enum(routings),
    channels: z
      .array(
        z.object({
          channelId: z.string(),
          groups: z.array(z.string()).describe('Whose keys it serves.'),
          priority: z.int(),
          weight: z.int(),
          cost: z
            .string()
            .nullable()
            .describe(
              'What the upstream takes now, USD: of a call or a second, or of a million tokens in and a million out. Null: not known.',
            ),
          latencyMs: ms.describe(
            'The median of the latest served calls in the slowest gateway. Null: not known.',
          ),
          state: states.describe('Open: it takes no calls at the moment in some gateway.'),
        }),
      )
      .describe('In the order in which they are tried; by weight, in the most likely one.'),
  })
  .meta({ id: 'ModelRoute' });

export const channelHealthView = z
  .object({
    channelId: z.string(),
    enabled: z.boolean(),
    runningTasks: z
      .int()
      .describe('Tasks in progress on the channel. A disabled channel takes no new tasks and drains.'),
    programs: z.array(z.object({ program: programs, instance: z.string(), reportedAt: timeView, ...vitals })),
  })
  .meta({ id: 'ChannelHealth' });
