// Paths of ours that answers link to. http/ serves them; the public URL goes in front.

export const approvalPath = (paymentMethodId: string): string => `/sandbox/approvals/${paymentMethodId}`;

export const badgePath = (scheme: string): string => `/assets/card-schemes/${scheme}.svg`;
