// Contract 1.1 refuses URLs that cannot be called. Those that were stored before are switched off. Everything that this needs
// is written here, because a migration must do the same for ever.
import { sql, type Kysely } from 'kysely';

const port = '(0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?';
const pattern = `^https?://(\\[[0-9A-Fa-f:.]+\\]|[^/?#@:\\[\\]]+)(:${port})?([/?#]|$)`;

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string; url: string; active: boolean }>`
    select id, url, active from webhook_subscriptions`.execute(db);
  for (const { id, url, active } of rows) {
    if (new RegExp(pattern, 'u').test(url) && URL.canParse(url)) continue;
    const shown = asUri(url);
    if (!active && shown === url) continue;
    await sql`
      update webhook_subscriptions set active = false, url = ${shown}, updated_at = now()
      where id = ${id}`.execute(db);
  }
  // Without an address to return to, the buyer stays on the approval page.
  await sql`update payment_methods set redirect_url = null where redirect_url !~ ${pattern}`.execute(db);
}

// Lists promise `format: uri`, and `https://a:b/` is none (RFC 3986: a port has only digits). As part of a name it is one.
function asUri(url: string): string {
  const [, scheme = '', authority = '', rest = ''] = /^(https?:\/\/)([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (/^([^@]*@)?(\[[^\]]*\]|[^:@]*)(:[0-9]*)?$/.test(authority)) return url;
  return `${scheme}${authority.replaceAll(':', '%3A').replaceAll('@', '%40')}${rest}`;
}
