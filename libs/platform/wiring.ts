import type { Abstract, FactoryProvider, InjectionToken, Type } from '@nestjs/common';
import type { Loop } from './loop.js';

/** Names what Nest injects that is no class of its own, such as a pool, and says of which type it is. */
export type Token<T> = symbol & { readonly standsFor?: T };

type TokenOf<T> = Token<T> | Type<T> | Abstract<T>;

/** Where each of the parts that a class takes comes from. */
export type TokensOf<P> = { readonly [K in keyof P]-?: TokenOf<P[K]> };

/** Has Nest make a class that knows nothing of Nest: it takes its parts as one object, and the compiler checks each. */
export function provided<P extends object, T>(
  made: new (parts: P) => T,
  parts: TokensOf<P>,
): FactoryProvider<T> {
  return { provide: made, ...factoryOf((given: P) => new made(given), parts) };
}

/** A loop that runs for as long as the program. */
export function job<P extends object>(make: (parts: P) => Loop, parts: TokensOf<P>): FactoryProvider {
  const hosted = (given: P) => {
    const loop = make(given);
    return { onApplicationBootstrap: () => loop.start(), beforeApplicationShutdown: () => loop.stop() };
  };
  return { provide: Symbol('job'), ...factoryOf(hosted, parts) };
}

function factoryOf<P extends object, T>(make: (parts: P) => T, parts: TokensOf<P>) {
  const names = Object.keys(parts);
  return {
    inject: Object.values(parts) as InjectionToken[],
    useFactory: (...values: unknown[]): T =>
      make(Object.fromEntries(names.map((name, index) => [name, values[index]])) as P),
  };
}
