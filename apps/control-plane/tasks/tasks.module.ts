import { Module } from '@nestjs/common';
import { TasksController } from './tasks.controller.js';

/** Tasks of accounts. */
@Module({ controllers: [TasksController] })
export class TasksModule {}
