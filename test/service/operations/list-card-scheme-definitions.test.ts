import { expect, describe, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';

describeOperation('listCardSchemeDefinitions', {}, (frame) => {
  describe('200 lists every card scheme', () => {
    it('has the 24 schemes of the specification, each with a name', async () => {
      const { status, body } = await frame.call();
      expect(status).toBe(200);
      const { items } = body as { items: { id: string; display_name: string }[] };
      expect(items.map(({ id }) => id)).toEqual(
        `accel amex bancontact carte-bancaire cirrus culiance dankort diners-club discover eftpos-australia elo hipercard
         jcb maestro mastercard mir nyce other pulse rupay star uatp unionpay visa`.split(/\s+/),
      );
      for (const { display_name } of items) expect(display_name).not.toBe('');
    });

    it('serves each badge at its icon_url, made from PUBLIC_URL and not from the Host header', async () => {
      const { body } = await frame.call({ headers: { 'X-Forwarded-Host': 'evil.example' } });
      const { items } = body as { items: { icon_url: string }[] };
      for (const { icon_url } of items) {
        expect(icon_url.startsWith(`${frame.service.url}/assets/`)).toBe(true);
        const badge = await fetch(icon_url);
        expect(badge.headers.get('content-type')).toContain('image/svg+xml');
        expect(await badge.text()).toMatch(/^<svg/);
      }
    });
  });
});
