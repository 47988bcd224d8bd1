import { Module } from '@nestjs/common';
import { DeadLettersController } from './dead-letters.controller.js';

/** Messages that could not be handled. */
@Module({ controllers: [DeadLettersController] })
export class DeadLettersModule {}
