import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { ProgramParts } from '#operations/program-parts.js';
import type { ConsolePages } from './console.pages.js';
import type { ControlPlaneConfig } from './control-plane.config.js';

export interface ControlPlaneModuleOptions extends ProgramParts<ControlPlaneConfig> {
  /** A replica that reports read, if there is one. */
  reports: pg.Pool | undefined;
  /** The same database for entities. */
  entities: DataSource;
  pages: ConsolePages;
  /** Where clients send calls for models, without /v1. */
  baseUrl: () => string;
  /** Where the control plane itself reaches a gateway. */
  gatewayUrl: () => string;
}
