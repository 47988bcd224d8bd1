import type pg from 'pg';
import type { z } from 'zod';
import type { ChannelVitals } from '#upstream/health/channel-vitals.js';
import type { channelHealthView, programView } from './program.view.js';

type ProgramView = z.output<typeof programView>;
type HealthView = z.output<typeof channelHealthView>;

interface Programs {
  items: ProgramView[];
  /** Messages that nobody has looked at yet. */
  deadLetters: number;
  runningTasks: number;
}

/** A report's fields, from any program version that may still run. */
type StoredReport = ProgramView['report'] & { channels?: ChannelVitals[] };

interface ReportRow {
  program: ProgramView['program'];
  instance: string;
  version: string;
  host: string;
  startedAt: Date;
  reportedAt: Date;
  isSilent: boolean;
  report: StoredReport;
}

/** A report that is overdue by this many of its intervals is missing, not late. */
const MISSED_REPORTS = 4;
const RUNNING = `state IN ('created', 'submitting', 'submitted', 'unknown')`;

export class ProgramReader {
  constructor(
    private readonly pool: pg.Pool,
    private readonly options: { reportMs: number },
  ) {}

  async programs(): Promise<Programs> {
    const [reports, counts] = await Promise.all([
      this.reports(),
      this.pool.query<{ deadLetters: number; runningTasks: number }>(
        `SELECT (SELECT count(*)::int FROM dead_letters WHERE replayed_at IS NULL) AS "deadLetters",
           (SELECT count(*)::int FROM tasks WHERE ${RUNNING}) AS "runningTasks"`,
      ),
    ]);
    return {
      items: reports.map(({ report: { channels: _, ...report }, ...row }) => ({
        ...row,
        startedAt: row.startedAt.toISOString(),
        reportedAt: row.reportedAt.toISOString(),
        report,
      })),
      ...counts.rows[0]!,
    };
  }

  /** The state of the channels, all of them or one. */
  async channels(channelId: string | null): Promise<HealthView[]> {
    const [reports, { rows: channels }] = await Promise.all([
      this.reports(),
      this.pool.query<{ channelId: string; enabled: boolean; runningTasks: number }>(
        `SELECT c.id AS "channelId", c.enabled, (SELECT count(*)::int FROM tasks t
           WHERE t.channel_id = c.id AND t.${RUNNING}) AS "runningTasks"
         FROM channels c WHERE $1::text IS NULL OR c.id = $1 ORDER BY c.id`,
        [channelId],
      ),
    ]);
    const live = reports.filter(({ isSilent }) => !isSilent);
    return channels.map((channel) => ({
      ...channel,
      programs: live.flatMap(({ program, instance, reportedAt, report }) =>
        (report.channels ?? [])
          .filter((each) => each.channelId === channel.channelId)
          .map((vitals) => ({
            program,
            instance,
            reportedAt: reportedAt.toISOString(),
            ...viewVitals(vitals),
          })),
      ),
    }));
  }

  async isRunning(program: ProgramView['program']): Promise<boolean> {
    const reports = await this.reports();
    return reports.some((each) => each.program === program && !each.isSilent);
  }

  private async reports(): Promise<ReportRow[]> {
    const { rows } = await this.pool.query<ReportRow>(
      `SELECT program, instance, version, host, started_at AS "startedAt", reported_at AS "reportedAt", report,
         reported_at < now() - $1::float8 * interval '1 millisecond' AS "isSilent"
       FROM program_reports ORDER BY program, started_at, instance`,
      [Math.max(MISSED_REPORTS * this.options.reportMs, 1_000)],
    );
    return rows;
  }
}

function viewVitals({ channelId: _, openedAtMs, lastFailure, ...vitals }: ChannelVitals) {
  return {
    ...vitals,
    // Programs of an earlier version report neither.
    model: vitals.model ?? null,
    latencyMs: vitals.latencyMs ?? null,
    openedAt: openedAtMs === null ? null : new Date(openedAtMs).toISOString(),
    lastFailure: lastFailure && {
      at: new Date(lastFailure.atMs).toISOString(),
      kind: lastFailure.kind ?? null,
      reason: lastFailure.reason,
      status: lastFailure.status,
    },
  };
}
