import { plain, type Facts } from '../../maintenance/facts.ts';

export const roles = { ...plain, key: { id: 'uuid' }, isByAccount: false } as const satisfies Facts<'roles'>;
