import type { Dice } from '../support/month/dice.js';

/**
 * Requests in each of 58 minutes, as counted in AzureLLMInferenceTrace_conv.csv of the Azure LLM inference trace 2023
 * (https://github.com/Azure/AzurePublicDataset, commit 7909210; 16 November 2023, 18:15 to 19:13, CC-BY; P. Patel et
 * al., "Splitwise: Efficient generative LLM inference using phase splitting", ISCA 2024). They show how the load of a
 * service rises and falls.
 */
const REQUESTS_BY_MINUTE = [
  191, 265, 329, 353, 307, 273, 268, 261, 322, 298, 301, 302, 345, 326, 283, 279, 280, 308, 343, 351, 351,
  343, 408, 396, 386, 398, 432, 480, 476, 453, 448, 507, 438, 413, 423, 418, 465, 311, 329, 316, 333, 355,
  319, 360, 334, 375, 330, 249, 221, 249, 265, 280, 256, 254, 242, 260, 246, 225,
];
const MEAN = REQUESTS_BY_MINUTE.reduce((sum, count) => sum + count, 0) / REQUESTS_BY_MINUTE.length;

/** The load relative to its mean, at a fraction of the run from 0 to 1. */
function loadAt(part: number): number {
  const index = Math.min(
    REQUESTS_BY_MINUTE.length - 1,
    Math.max(0, Math.floor(part * REQUESTS_BY_MINUTE.length)),
  );
  return (REQUESTS_BY_MINUTE[index] as number) / MEAN;
}

/**
 * The time until the next request. Within a minute of that trace, requests arrive independently of each other (the
 * standard deviation of the pauses is 1.02 times their mean), so several often arrive at once.
 */
export function gapMs(dice: Dice, { perSecond, part }: { perSecond: number; part: number }): number {
  return (-Math.log(1 - dice.chance()) * 1_000) / (perSecond * loadAt(part));
}
