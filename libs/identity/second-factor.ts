import type { FoundSession } from './session.store.js';

/** Whether staff must have a second factor, or are only advised to. */
export type SecondFactorRule = 'required' | 'advised';

/**
 * What a session's person has to do about a second factor: nothing (`on`, and `off` for customers), or set one up, as
 * advice or before anything else.
 */
export type SecondFactorState = 'on' | 'off' | 'advised' | 'required';

/** Everyone can have a second factor, and all staff should. */
export class SecondFactor {
  constructor(private readonly rule: SecondFactorRule) {}

  stateOf({ actor, hasSecondFactor }: Pick<FoundSession, 'actor' | 'hasSecondFactor'>): SecondFactorState {
    if (hasSecondFactor) return 'on';
    return actor.roles.some((role) => role !== 'user') ? this.rule : 'off';
  }
}
