/** Words of the API, in the order in which people choose from them. */
export const families = ['image', 'video', 'chat', 'speech', '3d'] as const;
export const modelRoutings = ['priority', 'cost', 'latency'] as const;
export const ticketTypes = ['question', 'billing', 'reseller_rate', 'refund'] as const;
export const ticketStages = ['open', 'answered', 'closed'] as const;
export const chargeStages = ['held', 'settled', 'released', 'refused'] as const;
export const staffRoles = ['support', 'finance', 'admin'] as const;
export const reportProviders = ['stripe', 'sandbox'] as const;
export const reasonsToAdjust = ['goodwill', 'correction', 'migration', 'compensation'] as const;
