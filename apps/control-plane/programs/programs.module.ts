import { Module } from '@nestjs/common';
import { ProgramReporter } from '#bus/program-reporter.js';
import { closing, providedBy, running } from '#platform/wiring.js';
import { ChannelTests } from '#operations/channel-tests.js';
import { ProgramReader } from '#operations/program.reader.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';
import { controlPlaneReporter } from '../control-plane.report.js';
import { ProgramsController } from './programs.controller.js';

/** The running programs and the channels that they use, for administrators. */
@Module({
  controllers: [ProgramsController],
  providers: [
    providedBy(ProgramReporter, controlPlaneReporter, SHARED),
    running(ProgramReporter),
    providedBy(ProgramReader, ({ pool, config }: Shared) => new ProgramReader(pool, config.console), SHARED),
    providedBy(
      ChannelTests,
      ({ pool, source, config }: Shared) =>
        new ChannelTests(pool, source, { timeoutMs: config.console.channelTestMs, secrets: config.secrets }),
      SHARED,
    ),
    closing(ChannelTests),
  ],
  exports: [ProgramReader],
})
export class ProgramsModule {}
