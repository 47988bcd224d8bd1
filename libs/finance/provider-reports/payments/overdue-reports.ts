import type pg from 'pg';
import type { ReportingProvider } from '../report-line.js';

/** A provider whose last report ended too long ago, although payments were made through it since. */
export interface OverdueReport {
  provider: ReportingProvider;
  /** Null if there was no report at all. PostgreSQL text. */
  until: string | null;
  /** The first payment that no report covers. */
  firstAt: string;
}

/** The client's time zone must be UTC. */
export async function findOverdueReports(client: pg.ClientBase, overdueMs: number): Promise<OverdueReport[]> {
  const { rows } = await client.query<OverdueReport>(
    `SELECT p.provider, r.until::text, first.at::text AS "firstAt" FROM (VALUES ('stripe'), ('sandbox')) AS p (provider)
     LEFT JOIN LATERAL (SELECT max(upper(covers)) AS until FROM provider_reports
       WHERE provider = p.provider AND holds IN ('all', 'activity') AND covers IS NOT NULL) AS r ON true
     CROSS JOIN LATERAL (SELECT min(recorded_at) AS at FROM topups
       WHERE provider = p.provider AND recorded_at >= coalesce(r.until, '-infinity')) AS first
     WHERE first.at IS NOT NULL AND coalesce(r.until, first.at) < now() - $1::float8 * interval '1 millisecond'
     ORDER BY 1`,
    [overdueMs],
  );
  return rows;
}
