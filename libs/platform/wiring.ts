import { type Abstract, type FactoryProvider, Inject, type InjectionToken, type Type } from '@nestjs/common';
import type { Loop } from './loop.js';

/** Names what Nest injects without a class of its own, such as a pool, with its type. */
export type Token<T> = symbol & { readonly standsFor?: T };

type TokenOf<T> = Token<T> | Type<T> | Abstract<T>;

/** Where each part comes from. */
export type TokensOf<P> = { readonly [K in keyof P]-?: TokenOf<P[K]> };

/** Something that works in the background. */
interface Service {
  start?(): unknown;
  stop(): Promise<void>;
}

type StandsFor<T> = T extends Token<infer V> ? V : T extends Abstract<infer V> ? V : never;

/** The base of a controller: Nest fills in a property for each of these parts. */
export function Using<P extends Record<string, TokenOf<unknown>>>(parts: P) {
  class Base {}
  for (const [name, token] of Object.entries(parts)) Inject(token as InjectionToken)(Base.prototype, name);
  return Base as new () => { readonly [K in keyof P]: StandsFor<P[K]> };
}

/** Makes Nest create a class that does not know Nest: it takes its parts as one object, and the compiler checks each. */
export function provided<P extends object, T>(
  made: new (parts: P) => T,
  parts: TokensOf<P>,
): FactoryProvider<T> {
  return factory(made, (given: P) => new made(given), parts);
}

/** The same for a class with separate parameters. */
export function constructed<A extends unknown[], T>(
  made: new (...parts: A) => T,
  ...parts: { [K in keyof A]: TokenOf<A[K]> }
): FactoryProvider<T> {
  return {
    provide: made,
    inject: parts as InjectionToken[],
    useFactory: (...given: unknown[]) => new made(...(given as A)),
  };
}

/** The same for a class whose parameters have other names than the parts. */
export function providedBy<P extends object, T>(
  token: TokenOf<T>,
  make: (parts: P) => T,
  parts: TokensOf<P>,
): FactoryProvider<T> {
  return factory(token, make, parts);
}

/** A loop that runs as long as the program; null if its work is switched off. */
export function job<P extends object>(make: (parts: P) => Loop | null, parts: TokensOf<P>): FactoryProvider {
  const start = (given: P) => {
    const loop = make(given);
    return loop ? whileRunning(loop) : {};
  };
  return factory(Symbol('job'), start, parts);
}

/** Starts a service with the program and stops it with the program. */
export function running<T extends Service>(service: Type<T> | Abstract<T>): FactoryProvider {
  return factory(Symbol('running'), ({ one }: { one: T }) => whileRunning(one), { one: service });
}

/** Runs before the program serves anyone. */
export function first<P extends object>(
  work: (parts: P) => Promise<void>,
  parts: TokensOf<P>,
): FactoryProvider {
  return factory(Symbol('first'), (given: P) => ({ onModuleInit: () => work(given) }), parts);
}

/** Closes it once the program no longer serves anyone. */
export function closing<T extends { close(): Promise<void> }>(one: Type<T>): FactoryProvider {
  return factory(
    Symbol('closing'),
    (given: { one: T }) => ({ onApplicationShutdown: () => given.one.close() }),
    { one },
  );
}

function whileRunning(service: Service) {
  return {
    onApplicationBootstrap: () => void service.start?.(),
    beforeApplicationShutdown: () => service.stop(),
  };
}

function factory<P extends object, T>(
  token: unknown,
  make: (parts: P) => T,
  parts: TokensOf<P>,
): FactoryProvider<T> {
  const names = Object.keys(parts);
  return {
    provide: token as InjectionToken,
    inject: Object.values<InjectionToken>(parts),
    useFactory: (...values: unknown[]) =>
      make(Object.fromEntries(names.map((name, index) => [name, values[index]])) as P),
  };
}
