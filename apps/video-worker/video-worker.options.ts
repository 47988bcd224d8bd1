import type { ProgramParts } from '#operations/program-parts.js';
import type { FileStore } from '#storage/file-store.js';
import type { VideoWorkerConfig } from './video-worker.config.js';

export interface VideoWorkerModuleOptions extends ProgramParts<VideoWorkerConfig> {
  storage: FileStore;
}
