/** All releases, with the commits that made them: a new one is added here. */
export const releases = [
  { version: '1.0.0', commit: '10579539' },
  { version: '1.1.0', commit: '75ea8eef' },
  { version: '1.2.0', commit: 'a584289f' },
];
