import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { isTransient } from '#database/database.js';
import { freshnessOf } from '#database/read-replica.js';
import { serviceUnavailable } from '#platform/http/refusal.js';
import { Gauge, type Registry } from '#platform/metrics.js';
import { type Reads, ROUTE, type Route } from './declared-route.js';

/** The header that says as of when an answer of the replica is, ISO 8601. */
export const AS_OF = 'data-as-of';

export interface ReportsDatabaseParts {
  readonly primary: pg.Pool;
  /** Its connections only read; undefined: reports are read from the primary. */
  readonly replica: pg.Pool | undefined;
  /** A replica that is further behind answers no report. */
  readonly maxLagMs: number;
  readonly registry: Registry;
}

/** Gives reports the database that they read, and refuses them while their replica is down or too far behind. */
export class ReportsDatabase {
  private readonly lag: Gauge | undefined;

  constructor(private readonly parts: ReportsDatabaseParts) {
    if (!parts.replica) return;
    this.lag = new Gauge({
      name: 'tollgate_reports_lag_seconds',
      help: 'Lag of the read replica when a report last queried it.',
      registers: [parts.registry],
    });
  }

  /** The database of a route; the answer says as of when the replica is. @throws ApiError service_unavailable */
  async of(reads: Reads, reply: FastifyReply): Promise<pg.Pool> {
    const { primary, replica } = this.parts;
    if (reads === 'primary' || !replica) return primary;
    void reply.header(AS_OF, (await this.freshAsOf(replica)).toISOString());
    return replica;
  }

  /** It never falls back on the primary, where many reports at once would slow down every charge. */
  private async freshAsOf(replica: pg.Pool): Promise<Date> {
    const { asOf, behindMs } = await freshnessOf(replica).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      throw serviceUnavailable(
        'The database of reports does not answer at the moment; try again soon.',
        error,
      );
    });
    if (Number.isFinite(behindMs)) this.lag?.set(behindMs / 1000);
    if (asOf !== null && behindMs <= this.parts.maxLagMs) return asOf;
    const far = asOf === null ? 'is still starting' : `is ${Math.round(behindMs / 1000)} seconds behind`;
    throw serviceUnavailable(`The database of reports ${far}; try again once it has caught up.`);
  }
}

/** Gives the call of a route, once it is known who calls, the database that the route reads. */
@Injectable()
export class DatabaseGuard implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(@Inject(ReportsDatabase) private readonly reports: ReportsDatabase) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { reads } = this.reflector.get<Route>(ROUTE, context.getHandler());
    const http = context.switchToHttp();
    http.getRequest<FastifyRequest>().database = await this.reports.of(
      reads,
      http.getResponse<FastifyReply>(),
    );
    return true;
  }
}
