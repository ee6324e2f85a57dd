import { plain, type Facts } from '../../upkeep/facts.ts';

export const roles = { ...plain, key: { id: 'uuid' }, isByAccount: false } as const satisfies Facts<'roles'>;
