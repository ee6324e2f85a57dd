/** How far the clocks of callers may be off. In its own file, because the mock needs it without the verification of tokens. */
export const leewaySeconds = 60;
