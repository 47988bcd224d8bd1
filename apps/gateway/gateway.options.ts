import type { ProgramParts } from '#operations/program-parts.js';
import type { FileStore } from '#storage/file-store.js';
import type { GatewayConfig } from './gateway.config.js';

export interface GatewayModuleOptions extends ProgramParts<GatewayConfig> {
  storage: FileStore;
}
