import { describe, expect, it } from 'vitest';
import { isTerminal, mayMove, publicStatus, taskMoves, type TaskState, taskStates } from './task-state.js';

describe('task states', () => {
  it('are all reachable from created', () => {
    const reached = new Set<TaskState>(['created']);
    for (const state of reached) for (const next of taskMoves[state]) reached.add(next);
    expect([...reached].sort()).toEqual([...taskStates].sort());
  });

  it('cannot be left once final', () => {
    const terminal = taskStates.filter(isTerminal);
    expect(terminal.sort()).toEqual(['completed', 'failed', 'refused']);
    for (const state of terminal) for (const to of taskStates) expect(mayMove(state, to)).toBe(false);
  });

  it('show each client only the words it knows, and internal states as waiting', () => {
    const words = (dialect: 'openai' | 'xai') =>
      new Set(
        taskStates.flatMap((state) => [publicStatus(state, dialect, 0), publicStatus(state, dialect, 50)]),
      );
    expect([...words('openai')].sort()).toEqual(['completed', 'failed', 'in_progress', 'queued']);
    expect([...words('xai')].sort()).toEqual(['done', 'failed', 'pending']);
    expect(publicStatus('unknown', 'openai', 0)).toBe('queued');
  });
});
