import { Command } from 'commander';
import { examine, type DoctorFinding } from './doctor.js';
import { printJson, printText } from '../output.js';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'test everything that a relay needs: configuration, storage, database, clock, bus, and a charge that is held and ' +
        'released on an account of its own (with real payments, a refusal for lack of balance passes too); exits 1 if ' +
        'something fails, and says what to do',
    )
    .action(run);
}

async function run(options: { json?: boolean }): Promise<void> {
  const findings = await examine(process.env, (finding) => {
    if (!options.json) printText(line(finding));
  });
  const failed = findings.filter(({ state }) => state === 'fail').length;
  if (failed > 0) process.exitCode = 1;
  if (options.json) return printJson({ ok: failed === 0, checks: findings });
  const warned = findings.filter(({ state }) => state === 'warn').length;
  printText(failed + warned === 0 ? '\nAll is well.' : `\n${failed} failed, ${warned} need attention.`);
}

function line({ check, state, detail, advice }: DoctorFinding): string {
  const text = `${state.padEnd(5)} ${check.padEnd(14)} ${detail}`;
  return advice === null || state === 'ok' ? text : `${text}\n${' '.repeat(21)}→ ${advice}`;
}
