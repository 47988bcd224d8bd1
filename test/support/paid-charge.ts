import { type Customer, json, type Relay, until } from './relay.js';

/** Requests fifteen seconds of video at 0.05 USD, and waits until it is charged. @returns the charge's ID */
export async function paidCharge(relay: Pick<Relay, 'fixture'>, customer: Customer): Promise<string> {
  const body = { model: 'vendora-imagine-video', prompt: 'a boat [[work:0.05]]', seconds: '15' };
  const { id } = (await (await customer.send('/v1/videos', json(body))).json()) as { id: string };
  let chargeId = '';
  await until('the video to be paid', async () => {
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      `SELECT id FROM charges WHERE task_id = $1 AND state = 'settled'`,
      [id],
    );
    chargeId = rows[0]?.id ?? '';
    return chargeId !== '';
  });
  return chargeId;
}
