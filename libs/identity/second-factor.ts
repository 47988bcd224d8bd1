import type { FoundSession } from './session.store.js';

/** Whether staff must have a second factor, or are only advised to. */
export type SecondFactorRule = 'required' | 'advised';

/**
 * What a session's person has to do about a second factor: nothing (`on`, and `off` for customers), or to set one up, as a
 * piece of advice or before anything else.
 */
export type SecondFactorState = 'on' | 'off' | 'advised' | 'required';

/** A second factor is for everybody who wants one, and for all who work here. */
export class SecondFactor {
  constructor(private readonly rule: SecondFactorRule) {}

  stateOf({ actor, hasSecondFactor }: Pick<FoundSession, 'actor' | 'hasSecondFactor'>): SecondFactorState {
    if (hasSecondFactor) return 'on';
    return actor.roles.some((role) => role !== 'user') ? this.rule : 'off';
  }
}
