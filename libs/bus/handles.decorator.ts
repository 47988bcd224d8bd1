import 'reflect-metadata';
import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { PARAM_ARGS_METADATA } from '@nestjs/microservices/constants.js';
import { throwError, type Observable } from 'rxjs';
import type { Topic } from './topic.js';

/** Keeps the bus's handlers off other transports of an application. */
export const BUS_TRANSPORT = Symbol('bus');

/** Nest's own filter would replace the error with "Internal server error"; the bus needs the error to decide what to do. */
@Catch()
class PassErrorsThrough implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

/** Nest would take each message through pipes, of which there are none. A handler takes it as it is. */
const withoutPipes: MethodDecorator = ({ constructor }, property) =>
  Reflect.defineMetadata(PARAM_ARGS_METADATA, {}, constructor, property);

type Handler<P extends object, R> = (payload: P) => Promise<R>;

/**
 * Makes a controller's method the handler of a topic for one consumer group (by default the topic's only one). A method
 * with another payload or reply does not compile. Messages are delivered at least once and may be late, repeated or out of
 * order. An error that `isTransient` accepts is retried; any other ends the message (dead letter or error reply).
 */
export function Handles<P extends object, R>(topic: Topic<P, R>, group = topic.groups[0]) {
  if (group === undefined || !topic.groups.includes(group)) {
    throw new Error(
      `${topic.name} is not read by ${group ?? 'anyone'}: add the consumer group to its declaration.`,
    );
  }
  const method: MethodDecorator =
    topic.kind === 'event'
      ? (EventPattern(topic.name, BUS_TRANSPORT, { group }) as MethodDecorator)
      : MessagePattern(topic.name, BUS_TRANSPORT, { group });
  const decorate = applyDecorators(method, withoutPipes, UseFilters(new PassErrorsThrough()));
  return <H extends Handler<P, R>>(
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<H>,
  ): void => decorate(target, property, descriptor);
}
