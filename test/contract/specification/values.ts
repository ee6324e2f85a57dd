/** The value sets of the specification and of its open points. */
import { oneOf } from './shape.ts';

export const schemes = oneOf(`
  accel amex bancontact carte-bancaire cirrus culiance dankort diners-club discover eftpos-australia elo hipercard
  jcb maestro mastercard mir nyce other pulse rupay star uatp unionpay visa`);

export const methods = oneOf(`
  affirm afterpay alipay alipayhk applepay bacs bancontact banked becs bitpay boleto boost card cashapp chaseorbital
  checkout-session clearpay click-to-pay dana dcb dlocal ebanx efecty eps everydaypay gcash gem gemds gift-card giropay
  givingblock gocardless googlepay googlepay_pan_only gopay grabpay id ideal kakaopay kcp klarna latitude latitudeds
  laybuy linepay linkaja maybankqrpay mercadopago multibanco multipago netbanking network-token oney_3x oney_4x oney_6x
  oney_10x oney_12x ovo oxxo payid paymaya paypal paypalpaylater payto venmo pix pse rabbitlinepay razorpay scalapay
  sepa shopeepay singteldash smartpay sofort spei stripedd thaiqr touchngo truemoney trustly trustlyeurope upi vipps
  waave webpay wechat zippay`);

export const modes = oneOf('card redirect applepay googlepay click-to-pay checkout-session');

export const approvalTargets = oneOf('any new_window');

export const paymentMethodStatuses = oneOf('processing buyer_approval_required succeeded failed');

export const transactionStatuses = oneOf(`
  processing buyer_approval_pending authorization_succeeded authorization_failed authorization_declined capture_pending
  capture_succeeded authorization_void_pending authorization_voided`);

export const paymentSources = oneOf('ecommerce moto recurring installment card_on_file');

// `header` is decided in the open points.
export const errorLocations = oneOf('body query path header');

// Decided in the open points.
export const certificateAlgorithms = oneOf('ECDSA RSA');

export const intents = oneOf('authorize capture');

export const instrumentTypes = oneOf(
  'pan card_token redirect redirect_token googlepay applepay network_token plaid bank',
);

export const cardTypes = oneOf('credit debit prepaid');

export const redemptionStatuses = oneOf('created succeeded failed skipped');

export const balanceErrorCodes = oneOf(`
  invalid_gift_card expired_card inactive_card incorrect_currency insufficient_funds suspected_fraud operation_canceled
  invalid_service_credentials invalid_service_configuration service_error service_network_error unknown_error`);

/** The table "Codes": status, code, default message. 422 has a body of its own. */
export const errorCodes: Record<number, { code: string; message: string }> = {
  400: { code: 'bad_request', message: 'Generic error' },
  401: { code: 'unauthorized', message: 'No valid API authentication found' },
  403: { code: 'forbidden', message: 'Generic error' },
  404: { code: 'not_found', message: 'The resource could not be found' },
  405: { code: 'method_not_allowed', message: 'Method Not Allowed' },
  409: { code: 'duplicate_record', message: 'Generic error' },
  425: { code: 'too_early', message: 'Generic error' },
  429: { code: 'too_many_requests', message: 'Generic error' },
  500: { code: 'server_error', message: 'Request could not be processed' },
  502: { code: 'bad_gateway', message: 'Request could not be processed' },
  504: { code: 'gateway_timeout', message: 'Request could not be processed' },
};
