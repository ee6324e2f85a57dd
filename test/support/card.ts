/** A card that the sandbox accepts. */
export const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' } as const;
