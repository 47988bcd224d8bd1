import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { SessionStore } from '#identity/session.store.js';
import { SecondFactor } from '#identity/second-factor.js';
import { constructed, provided } from '#platform/wiring.js';
import { AccountRates } from '#topup/account-rates.js';
import { ApprovalsController } from './approvals/approvals.controller.js';
import type { ControlPlaneModuleOptions } from './control-plane.options.js';
import {
  BASE_URL,
  CONTROL_PLANE_CLOCK,
  CONTROL_PLANE_CONFIG,
  GATEWAY_URL,
  LOG,
  POOL,
  READINESS,
  REGISTRY,
  SHARED,
} from './control-plane.tokens.js';
import { AccessGuard } from './http/access.guard.js';
import { ApiDocumentController } from './http/openapi.controller.js';
import { HeavyWork } from './http/heavy-work.js';
import { ReportsDatabase } from './http/reports-database.js';
import { RequestThrottle } from './http/request-throttle.js';
import { SessionCookie } from './http/session-cookie.js';
import { SessionReader } from './http/session.reader.js';
import { Throttle } from './http/throttle.js';
import { RatesController } from './rates/rates.controller.js';

/** What all modules take: database, bus, sessions, configuration, second signatures, and what an account pays for a credit. */
@Global()
@Module({})
export class SharedModule {
  static register(options: ControlPlaneModuleOptions, parts: SharedParts): DynamicModule {
    const providers = [
      ...providersOf(options, parts),
      constructed(ApprovalService, DataSource),
      provided(AccountRates, SHARED),
      RequestThrottle,
      HeavyWork,
      SessionReader,
      AccessGuard,
    ];
    return {
      module: SharedModule,
      imports: [DiscoveryModule],
      controllers: [ApiDocumentController, ApprovalsController, RatesController],
      providers,
      exports: providers.map((each) => ('provide' in each ? each.provide : each)),
    };
  }
}

export interface SharedParts {
  readiness: unknown;
  relay: OutboxRelay;
}

function providersOf(options: ControlPlaneModuleOptions, parts: SharedParts) {
  const { pool, entities, config, log, registry, clock } = options;
  const secure = config.consoleUrl.startsWith('https:');
  const { reports: replica } = options;
  const database = new ReportsDatabase({ primary: pool, replica, maxLagMs: config.reportsLagMs, registry });
  return [
    { provide: POOL, useValue: pool },
    { provide: DataSource, useValue: entities },
    { provide: CONTROL_PLANE_CONFIG, useValue: config },
    { provide: LOG, useValue: log },
    { provide: CONTROL_PLANE_CLOCK, useValue: clock },
    { provide: REGISTRY, useValue: registry },
    { provide: BASE_URL, useValue: options.baseUrl },
    { provide: GATEWAY_URL, useValue: options.gatewayUrl },
    { provide: READINESS, useValue: parts.readiness },
    { provide: OutboxRelay, useValue: parts.relay },
    { provide: SessionStore, useValue: new SessionStore(pool, config.session) },
    { provide: SessionCookie, useValue: new SessionCookie({ secure }) },
    { provide: SecondFactor, useValue: new SecondFactor(config.people.secondFactor) },
    { provide: Throttle, useValue: new Throttle(clock) },
    { provide: ReportsDatabase, useValue: database },
  ];
}
