import { Controller } from '@nestjs/common';
import { formatMinor } from '#money/currency.js';
import { LineBookings } from '#finance/provider-reports/line-booking.js';
import { LineService } from '#finance/provider-reports/line.service.js';
import type { StoredLine } from '#finance/provider-reports/stored-line.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { lineRoutes as routes } from './lines.routes.js';
import { asking, askingOnce } from '../payments/finance.calls.js';

@Controller()
export class LinesController extends Using({ lines: LineService, bookings: LineBookings }) {
  @Serves(routes.line)
  async line({ params }: CallOf<typeof routes.line>) {
    return viewLine(await this.lines.find(params.provider, params.lineId));
  }

  @Serves(routes.bookLine)
  bookLine(call: CallOf<typeof routes.bookLine>) {
    return this.bookings.book(call.params, call.body.note, askingOnce(call));
  }

  @Serves(routes.acceptLine)
  acceptLine(call: CallOf<typeof routes.acceptLine>) {
    return this.lines.accept(call.params, call.body.reason, asking(call));
  }
}

function viewLine({ id: _, amountMinor, feeMinor, netMinor, changes, acceptances, ...line }: StoredLine) {
  const money = (minor: bigint) => formatMinor(minor, line.currency);
  return {
    ...line,
    amount: money(amountMinor),
    fee: money(feeMinor),
    net: money(netMinor),
    changes: changes.map((change) => ({
      ...change,
      recordedAt: new Date(change.recordedAt).toISOString(),
    })),
    acceptances: acceptances.map((acceptance) => ({
      ...acceptance,
      recordedAt: new Date(acceptance.recordedAt).toISOString(),
    })),
  };
}
