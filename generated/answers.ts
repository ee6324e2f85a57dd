// Written by `npm run generate` from openapi/. Do not edit.

/**
 * A text that a later version of the service sends. Not `string`: code cannot compare with it, so a misspelt value does not compile,
 * and comparing with a known one narrows.
 */
export declare enum LaterValue {
  Any = '',
}

/** @description A postal address. */
export interface Address {
    /** @description The city. */
    city: string | null;
    /** @description The two-letter country code. */
    country: string | null;
    /** @description The number or the name of the house. */
    house_number_or_name: string | null;
    /** @description The first line of the address. */
    line1: string | null;
    /** @description The second line of the address. */
    line2: string | null;
    /** @description The company or other organization at the address. */
    organization: string | null;
    /** @description The postal code. */
    postal_code: string | null;
    /** @description The state, county or province. */
    state: string | null;
    /** @description The ISO 3166-2 code of the state, such as `US-CA`. */
    state_code: string | null;
}

/**
 * Format: int64
 * @description An amount in the smallest unit of its currency, such as cents. `1299` in USD is $12.99.
 */
export type Amount = number;

/** @description A key pair whose private half signs access tokens. */
export interface ApiKeyPair {
    /** @description Whether the pair can authenticate. Tokens of an inactive pair return 401. */
    active: boolean;
    algorithm: CertificateAlgorithm;
    /** @description When the pair was created. */
    created_at: Timestamp;
    /** @description Who created the pair; null for a pair that an operator created. */
    creator: Creator | null;
    /** @description The name people know the pair by. */
    display_name: string;
    /**
     * Format: uuid
     * @description The ID of the key pair.
     */
    id: string;
    /**
     * Format: date-time
     * @description When the pair last authenticated a request, to the minute; null if it never did.
     */
    last_used_at: string | null;
    /** @description The merchant accounts that the pair can reach. An empty list means all of them. */
    merchant_accounts: MerchantAccountSummary[];
    /** @description The private key, PEM-encoded. It is there only in the response that creates the pair, and only when the service made the keys; it cannot be retrieved later, so no list shows it. */
    private_key?: string | null;
    /** @description The roles of the pair. It may do what some role of its allows, and nothing else. */
    roles: Role[];
    /** @description The RFC 7638 thumbprint of the public key (SHA-256, base64url). It is the `kid` of every token that the pair signs. */
    thumbprint: string;
    /**
     * @description Always `api-key-pair`.
     * @constant
     */
    type: "api-key-pair";
    /** @description When the pair last changed. */
    updated_at: Timestamp;
}

/** @description A page of API key pairs. */
export interface ApiKeyPairCollection {
    /** @description The key pairs of this page, newest first. */
    items: ApiKeyPair[];
    limit: PageLimit;
    /** @description Send this as `cursor` for the page of older items; null on the last page. */
    next_cursor: PageCursor;
    /** @description Send this as `cursor` for the page of newer items; null on the first page. */
    previous_cursor: PageCursor;
}

/**
 * @description Where the approval URL must be opened. `any` is no requirement.
 * @enum {string}
 */
export type ApprovalTarget = "any" | "new_window" | LaterValue;

/**
 * @description Why the balance of a gift card could not be read.
 *
 *     | Code | Meaning |
 *     |---|---|
 *     | `invalid_gift_card` | no such card, or the number and PIN do not belong together |
 *     | `expired_card` | the card has expired |
 *     | `inactive_card` | the card has not been activated, or is blocked |
 *     | `incorrect_currency` | the card is in a currency that cannot be read here |
 *     | `insufficient_funds` | the card is empty and the provider refuses to read it |
 *     | `suspected_fraud` | the provider suspects fraud, or more than ten PINs of this number were tried in an hour |
 *     | `operation_canceled` | the provider broke the look-up off |
 *     | `invalid_service_credentials` | the provider refused our credentials |
 *     | `invalid_service_configuration` | the connection to the provider is not set up correctly |
 *     | `service_error` | the provider failed |
 *     | `service_network_error` | the provider could not be reached for this card |
 *     | `unknown_error` | the provider gave a reason that we do not know |
 * @enum {string}
 */
export type BalanceErrorCode = "invalid_gift_card" | "expired_card" | "inactive_card" | "incorrect_currency" | "insufficient_funds" | "suspected_fraud" | "operation_canceled" | "invalid_service_credentials" | "invalid_service_configuration" | "service_error" | "service_network_error" | "unknown_error" | LaterValue;

/** @description HTTP basic authentication, sent with each delivery. */
export interface BasicAuthentication {
    /**
     * @description Always `basic`.
     * @constant
     */
    kind: "basic";
    /** @description The password. Responses show `********` instead. */
    password: FreeText;
    /** @description The user name. It cannot contain a colon (RFC 7617). */
    username: string;
}

/** @description Name, address and tax ID for the bill. */
export interface BillingDetails {
    /** @description The postal address; null when not known. */
    address: Address | null;
    /** @description The e-mail address. */
    email_address: string | null;
    /** @description The first name. */
    first_name: string | null;
    /** @description The last name. */
    last_name: string | null;
    /** @description The phone number, with its country code. */
    phone_number: string | null;
    /** @description The tax ID; null when not known. */
    tax_id: TaxId | null;
    /**
     * @description Always `billing-details`.
     * @constant
     */
    type: "billing-details";
}

/** @description Someone who buys from a merchant. */
export interface Buyer {
    /** @description The number of the buyer's account with the merchant. */
    account_number: string | null;
    /** @description Name and address for the bill; null when not known. */
    billing_details: BillingDetails | null;
    /** @description When the buyer was created. */
    created_at: Timestamp;
    /** @description The name people know the buyer by. */
    display_name: string | null;
    /** @description The merchant's own reference of the buyer, unique within the merchant account. */
    external_identifier: string | null;
    /**
     * Format: uuid
     * @description The ID of the buyer.
     */
    id: string;
    /** @description The merchant account that the buyer belongs to. */
    merchant_account_id: string;
    /**
     * @description Always `buyer`.
     * @constant
     */
    type: "buyer";
    /** @description When the buyer last changed. */
    updated_at: Timestamp;
}

/** @description What is known of the card from its number. */
export interface CardDetails {
    /** @description The first eight digits of a number of 16 or more, the first six of a shorter one. */
    bin: string | null;
    /** @description The bank that issued the card; null when not known. */
    card_issuer_name: string | null;
    /** @description The kind of account behind the card; null when not known. */
    card_type: CardType | null;
}

/**
 * @description A card scheme.
 * @enum {string}
 */
export type CardScheme = "accel" | "amex" | "bancontact" | "carte-bancaire" | "cirrus" | "culiance" | "dankort" | "diners-club" | "discover" | "eftpos-australia" | "elo" | "hipercard" | "jcb" | "maestro" | "mastercard" | "mir" | "nyce" | "other" | "pulse" | "rupay" | "star" | "uatp" | "unionpay" | "visa" | LaterValue;

/** @description A card scheme, with what one needs to show it to a buyer. */
export interface CardSchemeDefinition {
    /** @description The name of the scheme. */
    display_name: string;
    /**
     * Format: uri
     * @description The address of a badge for the scheme (SVG).
     */
    icon_url: string;
    /** @description The identifier of the scheme, as found in `scheme` of a payment method. */
    id: CardScheme;
    /**
     * @description Always `card-scheme-definition`.
     * @constant
     */
    type: "card-scheme-definition";
}

/** @description All card schemes. The list is short and comes whole, so it has no pages. */
export interface CardSchemeDefinitionCollection {
    /** @description The card schemes, by their identifiers. */
    items: CardSchemeDefinition[];
}

/**
 * @description The kind of account behind the card.
 * @enum {string}
 */
export type CardType = "credit" | "debit" | "prepaid" | LaterValue;

/**
 * @description The algorithm of the key pair, which decides how its tokens are signed: `ECDSA` on P-521 signs ES512, `RSA` of 2048 bits or more signs RS512.
 * @enum {string}
 */
export type CertificateAlgorithm = "ECDSA" | "RSA" | LaterValue;

/** @description A two-letter ISO 3166-1 country code. */
export type CountryCode = string;

/** @description The user or the API key pair that created something. */
export interface Creator {
    /** @description The user's e-mail address; null unless a dashboard user was the creator. */
    email_address: string | null;
    /**
     * Format: uuid
     * @description The ID of the user or of the API key pair.
     */
    id: string;
    /** @description The name of the user or of the API key pair. */
    name: string;
    /** @description The key pair's thumbprint; null unless another API key pair was the creator. */
    thumbprint: string | null;
}

/** @description A three-letter ISO 4217 currency code. */
export type CurrencyCode = string;

/** @description The month and year in which a card expires, MM/YY. */
export type ExpirationDate = string;

/** @description Text of the caller's own choosing, 1 to 200 characters, without U+0000. */
export type FreeText = string;

/** @description A gift card and its latest balance. Where the look-up failed, `balance` is null and the three error fields say why; otherwise the error fields are absent. */
export interface GiftCardBalance {
    /** @description The latest balance, in the smallest unit of `currency`; null when the look-up failed. */
    balance: Amount | null;
    balance_error_code?: BalanceErrorCode;
    /** @description The code as the gift card provider gave it, cut at 200 characters, with numbers and PINs of the cards masked. Present only when the look-up failed. */
    balance_raw_error_code?: string | null;
    /** @description The message as the gift card provider gave it, cut at 200 characters, with numbers and PINs of the cards masked. Present only when the look-up failed. */
    balance_raw_error_message?: string | null;
    /** @description The first six digits of the card number; null for an unknown card. */
    bin: string | null;
    /** @description The currency of the balance; null when the look-up failed. */
    currency: CurrencyCode | null;
    /**
     * Format: date-time
     * @description When the card expires; null when it does not, or when the provider does not tell.
     */
    expiration_date: string | null;
    /**
     * Format: uuid
     * @description The ID of the stored gift card; null for a card that is not stored.
     */
    id: string | null;
    /** @description The last four digits of the card number; null for an unknown card. */
    last4: string | null;
    /** @description The merchant account that asked. */
    merchant_account_id: string;
    /** @description The three digits after the BIN; null for an unknown card. */
    sub_bin: string | null;
    /**
     * @description Always `gift-card`.
     * @constant
     */
    type: "gift-card";
}

/** @description The balances that were asked for, in the order of the request. */
export interface GiftCardBalanceCollection {
    /** @description One item for each card of the request, in the same order. */
    items: GiftCardBalance[];
}

/** @description A part of a transaction that a gift card paid. */
export interface GiftCardRedemption {
    /** @description The amount that the gift card paid. */
    amount: Amount;
    /** @description Why the redemption failed; null when it did not. */
    error_code: string | null;
    /** @description The gift card; null when not known. */
    gift_card: RedeemedGiftCard | null;
    /** @description The gift card provider's own ID of the redemption. */
    gift_card_service_redemption_id: string | null;
    /**
     * Format: uuid
     * @description The ID of the redemption.
     */
    id: string;
    /** @description The code as the gift card provider gave it; null when it gave none. */
    raw_error_code: string | null;
    /** @description The message as the gift card provider gave it; null when it gave none. */
    raw_error_message: string | null;
    /** @description The amount that went back to the gift card. */
    refunded_amount: Amount;
    status: GiftCardRedemptionStatus;
    /**
     * @description Always `gift-card-redemption`.
     * @constant
     */
    type: "gift-card-redemption";
}

/**
 * @description Where the redemption stands.
 * @enum {string}
 */
export type GiftCardRedemptionStatus = "created" | "succeeded" | "failed" | "skipped" | LaterValue;

/**
 * @description The kind of instrument that was given to the payment service.
 * @enum {string}
 */
export type InstrumentType = "pan" | "card_token" | "redirect" | "redirect_token" | "googlepay" | "applepay" | "network_token" | "plaid" | "bank" | LaterValue;

/**
 * @description What was asked for, `authorize` (reserve the amount) or `capture` (reserve and take it at once).
 * @enum {string}
 */
export type Intent = "authorize" | "capture" | LaterValue;

/** @description A merchant account, as far as an API key pair needs to tell of it. */
export interface MerchantAccountSummary {
    /** @description When the merchant account was created. */
    created_at: Timestamp;
    /** @description The name of the merchant account. */
    display_name: string;
    /** @description The ID of the merchant account, as sent in `X-Service-Merchant-Account-ID`. */
    id: string;
    /** @description How much more than the authorized amount may be captured. */
    over_capture_amount: Amount;
    /** @description How much more than the authorized amount may be captured, in percent; null when there is no such limit. */
    over_capture_percentage: number | null;
    /**
     * @description Always `merchant-account`.
     * @constant
     */
    type: "merchant-account";
    /** @description When the merchant account last changed. */
    updated_at: Timestamp;
}

/**
 * @description A kind of payment method.
 * @enum {string}
 */
export type Method = "affirm" | "afterpay" | "alipay" | "alipayhk" | "applepay" | "bacs" | "bancontact" | "banked" | "becs" | "bitpay" | "boleto" | "boost" | "card" | "cashapp" | "chaseorbital" | "checkout-session" | "clearpay" | "click-to-pay" | "dana" | "dcb" | "dlocal" | "ebanx" | "efecty" | "eps" | "everydaypay" | "gcash" | "gem" | "gemds" | "gift-card" | "giropay" | "givingblock" | "gocardless" | "googlepay" | "googlepay_pan_only" | "gopay" | "grabpay" | "id" | "ideal" | "kakaopay" | "kcp" | "klarna" | "latitude" | "latitudeds" | "laybuy" | "linepay" | "linkaja" | "maybankqrpay" | "mercadopago" | "multibanco" | "multipago" | "netbanking" | "network-token" | "oney_3x" | "oney_4x" | "oney_6x" | "oney_10x" | "oney_12x" | "ovo" | "oxxo" | "payid" | "paymaya" | "paypal" | "paypalpaylater" | "payto" | "venmo" | "pix" | "pse" | "rabbitlinepay" | "razorpay" | "scalapay" | "sepa" | "shopeepay" | "singteldash" | "smartpay" | "sofort" | "spei" | "stripedd" | "thaiqr" | "touchngo" | "truemoney" | "trustly" | "trustlyeurope" | "upi" | "vipps" | "waave" | "webpay" | "wechat" | "zippay" | LaterValue;

/** @description An opaque pointer to another page of the same list, or null when there is none. */
export type PageCursor = string | null;

/**
 * Format: int32
 * @description The number of items requested for the page; the default where the request named none.
 * @default 20
 */
export type PageLimit = number;

/** @description A stored way to pay. */
export interface PaymentMethod {
    /** @description Further schemes that the card belongs to; null when there is none. Cards only. */
    additional_schemes: CardScheme[] | null;
    /** @description Where the approval URL must be opened. Null or `any` is no requirement. */
    approval_target: ApprovalTarget | null;
    /**
     * Format: uri
     * @description Where the buyer must be sent to approve; null when there is nothing to approve.
     */
    approval_url: string | null;
    /** @description The buyer that the method is stored for; null when it is stored for none. */
    buyer: Buyer | null;
    /**
     * Format: date-time
     * @description When the method was last used in a transaction that the customer initiated.
     */
    cit_last_used_at: string | null;
    /**
     * Format: int32
     * @description How often the method was used in transactions that the customer initiated.
     */
    cit_usage_count: number;
    /** @description The country that the method is for; null when it is usable in several. */
    country: CountryCode | null;
    /** @description When the payment method was created. */
    created_at: Timestamp;
    /** @description The currency that the method is for; null when it is usable for several. */
    currency: CurrencyCode | null;
    details: CardDetails;
    /** @description The month and year in which the card expires, MM/YY. */
    expiration_date: ExpirationDate | null;
    /** @description The caller's own reference, unique within the merchant account. */
    external_identifier: string | null;
    /** @description A keyed hash of the card number: within a merchant account the same card has the same fingerprint, in another account it has another. Null for a card with the status `failed`. It changes with the number, and when the service has lost its key: do not use it as an identifier. */
    fingerprint: string | null;
    /** @description Whether the account updater has found new details that do not apply yet. They apply when the card has expired, when only the expiration date changed, or when a transaction with the card is declined with `canceled_payment_method`, `expired_payment_method`, `unavailable_payment_method` or `unknown_payment_method`. Always false for methods other than cards. */
    has_replacement: boolean;
    /**
     * Format: uuid
     * @description The ID of the payment method.
     */
    id: string;
    /** @description For a card its last four digits; for a wallet the e-mail address of the account holder. */
    label: string | null;
    /**
     * Format: date-time
     * @description When a replacement last applied. Always null for methods other than cards.
     */
    last_replaced_at: string | null;
    /**
     * Format: date-time
     * @description When the method was last used in a transaction.
     */
    last_used_at: string | null;
    /** @description The merchant account that the payment method belongs to. */
    merchant_account_id: string;
    method: Method;
    mode: PaymentMethodMode;
    /** @description The scheme of the card. Cards only. */
    scheme: CardScheme | null;
    status: PaymentMethodStatus;
    /**
     * @description Always `payment-method`.
     * @constant
     */
    type: "payment-method";
    /** @description When the payment method last changed. */
    updated_at: Timestamp;
    /**
     * Format: int32
     * @description How often the method was used in transactions.
     */
    usage_count: number;
}

/** @description Tells that a payment method was created. */
export interface PaymentMethodCreatedEvent {
    /** @description When it happened. */
    created_at: Timestamp;
    /**
     * Format: uuid
     * @description The ID of the event, the same as in the header `webhook-id`.
     */
    id: string;
    /** @description The merchant account where it happened. */
    merchant_account_id: string;
    /**
     * @description Always `payment-method.created`.
     * @constant
     */
    name: "payment-method.created";
    /** @description The payment method as the API shows it, as it was when the event happened. */
    target: PaymentMethod;
    /**
     * @description Always `event`.
     * @constant
     */
    type: "event";
}

/**
 * @description How the payment method is used.
 * @enum {string}
 */
export type PaymentMethodMode = "card" | "redirect" | "applepay" | "googlepay" | "click-to-pay" | "checkout-session" | LaterValue;

/**
 * @description Where the payment method stands.
 *
 *     | Status | Meaning | May become |
 *     |---|---|---|
 *     | `processing` | stored but not yet usable; a notification from a connector is awaited | `succeeded`, `failed` |
 *     | `buyer_approval_required` | the buyer must approve at `approval_url` | `processing`, `succeeded`, `failed` |
 *     | `succeeded` | stored and usable | final |
 *     | `failed` | could not be stored, or failed verification | final |
 * @enum {string}
 */
export type PaymentMethodStatus = "processing" | "buyer_approval_required" | "succeeded" | "failed" | LaterValue;

/** @description Tells that a payment method changed. */
export interface PaymentMethodUpdatedEvent {
    /** @description When it happened. */
    created_at: Timestamp;
    /**
     * Format: uuid
     * @description The ID of the event, the same as in the header `webhook-id`.
     */
    id: string;
    /** @description The merchant account where it happened. */
    merchant_account_id: string;
    /**
     * @description Always `payment-method.updated`.
     * @constant
     */
    name: "payment-method.updated";
    /** @description The payment method as the API shows it, as it was when the event happened. */
    target: PaymentMethod;
    /**
     * @description Always `event`.
     * @constant
     */
    type: "event";
}

/** @description A connection to a payment service provider. */
export interface PaymentService {
    /** @description The name of the payment service. */
    display_name: string | null;
    /** @description The ID of the payment service. */
    id: string;
    /** @description The kind of payment method that it processes. */
    method: string | null;
    /** @description The kind of payment service, such as `sandbox-card`. */
    payment_service_definition_id: string | null;
    /**
     * @description Always `payment-service`.
     * @constant
     */
    type: "payment-service";
}

/** @description The gift card of a redemption. */
export interface RedeemedGiftCard {
    /** @description The first six digits of the card number. */
    bin: string | null;
    /**
     * Format: uuid
     * @description The ID of the stored gift card; null for a card that is not stored.
     */
    id: string | null;
    /** @description The last four digits of the card number. */
    last4: string | null;
    /** @description The three digits after the BIN. */
    sub_bin: string | null;
    /**
     * @description Always `gift-card`.
     * @constant
     */
    type: "gift-card";
}

/** @description A named set of permissions. */
export interface Role {
    /** @description What the role's permissions apply to, such as `merchant-account`. */
    applies_to: string[];
    /** @description What the role can be given to, such as `api-key-pair`. */
    assignable_to: string[];
    /** @description What the role is for. */
    description: string | null;
    /**
     * Format: uuid
     * @description The ID of the role.
     */
    id: string;
    /** @description Whether the role can be given on its own, without another role beside it. */
    is_standalone_assignable: boolean;
    /** @description The name of the role, for people. */
    name: string;
    permissions: RolePermissions;
    /** @description The name of the role, for programs. */
    slug: string;
    /**
     * @description Always `role`.
     * @constant
     */
    type: "role";
}

/** @description What the role allows. */
export interface RolePermissions {
    /** @description Permissions of the form `<resource>.read` or `<resource>.write`; `*.read` and `*.write` stand for every resource. */
    allow: string[];
}

/** @description A tax ID and its kind. */
export interface TaxId {
    /** @description The kind of tax ID, such as `us.ein` or `gb.vat`. */
    kind: string | null;
    /** @description The tax ID itself. */
    value: string | null;
}

/**
 * Format: date-time
 * @description A date and time with its time zone (RFC 3339), precise to the millisecond. Leap seconds (`:60`) are not used.
 */
export type Timestamp = string;

/** @description A payment. Nested objects (buyer, payment method, service, gift cards) show their state when the payment was made. */
export interface Transaction {
    /** @description The amount that was asked for, in the smallest unit of `currency`. */
    amount: Amount;
    /** @description The amount that is or was reserved. */
    authorized_amount: Amount;
    /** @description The buyer; null when there is none. */
    buyer: TransactionBuyer | null;
    /** @description The amount that was captured. */
    captured_amount: Amount;
    /**
     * Format: uuid
     * @description The checkout session that the transaction came from.
     */
    checkout_session_id: string | null;
    /** @description The country of the transaction. */
    country: CountryCode | null;
    /** @description When the transaction was created. */
    created_at: Timestamp;
    /** @description The currency of the amounts. */
    currency: CurrencyCode;
    /** @description The merchant's own reference. */
    external_identifier: string | null;
    /** @description The gift cards that paid a part of the amount; empty when there are none. */
    gift_card_redemptions: GiftCardRedemption[];
    /**
     * Format: uuid
     * @description The ID of the transaction.
     */
    id: string;
    /** @description The kind of instrument that was given to the payment service; null when there is none. */
    instrument_type: InstrumentType | null;
    intent: Intent;
    /** @description The merchant account that the transaction belongs to. */
    merchant_account_id: string;
    /** @description The kind of payment method; null when none was used. */
    method: Method | null;
    /** @description The payment method; null when none was used. */
    payment_method: TransactionPaymentMethod | null;
    /** @description The payment service that processed the transaction; null when none did. */
    payment_service: PaymentService | null;
    /** @description Whether a manual review is pending. */
    pending_review: boolean;
    /** @description The response code as the payment service gave it. */
    raw_response_code: string | null;
    /** @description The response text as the payment service gave it. */
    raw_response_description: string | null;
    /** @description The identifier to find this transaction by in the payment service's reports. */
    reconciliation_id: string | null;
    /** @description The amount that was refunded, gift cards not counted. */
    refunded_amount: Amount;
    /** @description Whether the transaction has been settled. */
    settled: boolean;
    /** @description The amount that was settled, in the smallest unit of `settled_currency`. */
    settled_amount: Amount;
    /** @description The currency of the settlement; null when nothing was settled. */
    settled_currency: CurrencyCode | null;
    status: TransactionStatus;
    /**
     * @description Always `transaction`.
     * @constant
     */
    type: "transaction";
    /** @description When the transaction last changed. */
    updated_at: Timestamp;
}

/** @description The buyer of a transaction, as it was at the time. */
export interface TransactionBuyer {
    /** @description The number of the buyer's account with the merchant. */
    account_number: string | null;
    /** @description Name and address for the bill; null when not known. */
    billing_details: BillingDetails | null;
    /** @description The name people know the buyer by. */
    display_name: string | null;
    /** @description The merchant's own reference of the buyer. */
    external_identifier: string | null;
    /**
     * Format: uuid
     * @description The ID of the buyer.
     */
    id: string;
    /**
     * @description Always `buyer`.
     * @constant
     */
    type: "buyer";
}

/** @description A page of transactions. */
export interface TransactionCollection {
    /** @description The transactions of this page, newest first. */
    items: Transaction[];
    limit: TransactionPageLimit;
    /** @description Send this as `cursor` for the page of older items; null on the last page. */
    next_cursor: PageCursor;
    /** @description Send this as `cursor` for the page of newer items; null on the first page. */
    previous_cursor: PageCursor;
}

/** @description Tells that a transaction was created. */
export interface TransactionCreatedEvent {
    /** @description When it happened. */
    created_at: Timestamp;
    /**
     * Format: uuid
     * @description The ID of the event, the same as in the header `webhook-id`.
     */
    id: string;
    /** @description The merchant account where it happened. */
    merchant_account_id: string;
    /**
     * @description Always `transaction.created`.
     * @constant
     */
    name: "transaction.created";
    /** @description The transaction as the API shows it, as it was when the event happened. */
    target: Transaction;
    /**
     * @description Always `event`.
     * @constant
     */
    type: "event";
}

/**
 * Format: int32
 * @description The number of transactions requested for the page; the default where the request named none.
 * @default 20
 */
export type TransactionPageLimit = number;

/** @description The payment method of a transaction, as it was at the time. */
export interface TransactionPaymentMethod {
    /** @description Where the approval URL had to be opened. Null or `any` is no requirement. */
    approval_target: ApprovalTarget | null;
    /**
     * Format: uri
     * @description Where the buyer had to be sent to approve; null when there was nothing to approve.
     */
    approval_url: string | null;
    /** @description The country that the method is for; null when it is usable in several. */
    country: CountryCode | null;
    /** @description The currency that the method is for; null when it is usable for several. */
    currency: CurrencyCode | null;
    details: CardDetails;
    /** @description The month and year in which the card expires, MM/YY. */
    expiration_date: ExpirationDate | null;
    /** @description The merchant's own reference of the payment method. */
    external_identifier: string | null;
    /** @description A keyed hash of the card number; within a merchant account the same card has the same fingerprint. Null where it is not known. */
    fingerprint: string | null;
    /**
     * Format: uuid
     * @description The ID of the payment method.
     */
    id: string;
    /** @description For a card its last four digits; for a wallet the e-mail address of the account holder. */
    label: string | null;
    /**
     * Format: date-time
     * @description When a replacement last applied to the card.
     */
    last_replaced_at: string | null;
    method: Method;
    /** @description The PAR of the card, which stays the same across its tokens; null when not known. */
    payment_account_reference: string | null;
    /** @description The scheme of the card. Cards only. */
    scheme: CardScheme | null;
    /**
     * @description Always `payment-method`.
     * @constant
     */
    type: "payment-method";
}

/**
 * @description Where the transaction stands. The statuses of a transaction:
 *
 *     | Status | Meaning | May become |
 *     |---|---|---|
 *     | `processing` | being worked on | `buyer_approval_pending`, `authorization_succeeded`, `authorization_failed`, `authorization_declined` |
 *     | `buyer_approval_pending` | the buyer must approve | `processing`, `authorization_succeeded`, `authorization_failed`, `authorization_declined` |
 *     | `authorization_succeeded` | the amount is reserved | `capture_pending`, `capture_succeeded`, `authorization_void_pending`, `authorization_voided` |
 *     | `authorization_failed` | something went wrong on the way | final |
 *     | `authorization_declined` | the payment service or the issuer said no | final |
 *     | `capture_pending` | the capture is under way | `capture_succeeded`, `authorization_succeeded` (capture failed) |
 *     | `capture_succeeded` | the amount is captured | final |
 *     | `authorization_void_pending` | the authorization is being voided | `authorization_voided`, `authorization_succeeded` (void failed) |
 *     | `authorization_voided` | the authorization is void | final |
 * @enum {string}
 */
export type TransactionStatus = "processing" | "buyer_approval_pending" | "authorization_succeeded" | "authorization_failed" | "authorization_declined" | "capture_pending" | "capture_succeeded" | "authorization_void_pending" | "authorization_voided" | LaterValue;

/** @description Tells that a transaction changed. */
export interface TransactionUpdatedEvent {
    /** @description When it happened. */
    created_at: Timestamp;
    /**
     * Format: uuid
     * @description The ID of the event, the same as in the header `webhook-id`.
     */
    id: string;
    /** @description The merchant account where it happened. */
    merchant_account_id: string;
    /**
     * @description Always `transaction.updated`.
     * @constant
     */
    name: "transaction.updated";
    /** @description The transaction as the API shows it, as it was when the event happened. */
    target: Transaction;
    /**
     * @description Always `event`.
     * @constant
     */
    type: "event";
}

/** @description An address that events are delivered to. */
export interface WebhookSubscription {
    /** @description Whether events are sent. When false, none are. */
    active: boolean;
    /** @description How deliveries authenticate themselves to the address; null when they do not. The password is masked. */
    authentication: BasicAuthentication | null;
    /**
     * Format: uuid
     * @description The ID of the subscription.
     */
    id: string;
    /** @description The merchant account whose events are delivered; null for those of all merchant accounts. */
    merchant_account_id: string | null;
    /** @description Whether a secret rotation is in progress. Until it ends, deliveries carry two signatures. */
    rotating: boolean;
    /** @description The active secret, which signs deliveries. It starts with `whsec_`. Null in lists unless token and roles also allow creating subscriptions. */
    secret: string | null;
    /**
     * @description Always `webhook-subscription`.
     * @constant
     */
    type: "webhook-subscription";
    /**
     * Format: uri
     * @description The address that events are sent to.
     */
    url: string;
}

/** @description A page of webhook subscriptions. */
export interface WebhookSubscriptionCollection {
    /** @description The subscriptions of this page, newest first. */
    items: WebhookSubscription[];
    limit: PageLimit;
    /** @description Send this as `cursor` for the page of older items; null on the last page. */
    next_cursor: PageCursor;
    /** @description Send this as `cursor` for the page of newer items; null on the first page. */
    previous_cursor: PageCursor;
}

/** The schemas above by name. */
export interface AnswerSchemas {
  'Address': Address;
  'Amount': Amount;
  'ApiKeyPair': ApiKeyPair;
  'ApiKeyPairCollection': ApiKeyPairCollection;
  'ApprovalTarget': ApprovalTarget;
  'BalanceErrorCode': BalanceErrorCode;
  'BasicAuthentication': BasicAuthentication;
  'BillingDetails': BillingDetails;
  'Buyer': Buyer;
  'CardDetails': CardDetails;
  'CardScheme': CardScheme;
  'CardSchemeDefinition': CardSchemeDefinition;
  'CardSchemeDefinitionCollection': CardSchemeDefinitionCollection;
  'CardType': CardType;
  'CertificateAlgorithm': CertificateAlgorithm;
  'CountryCode': CountryCode;
  'Creator': Creator;
  'CurrencyCode': CurrencyCode;
  'ExpirationDate': ExpirationDate;
  'FreeText': FreeText;
  'GiftCardBalance': GiftCardBalance;
  'GiftCardBalanceCollection': GiftCardBalanceCollection;
  'GiftCardRedemption': GiftCardRedemption;
  'GiftCardRedemptionStatus': GiftCardRedemptionStatus;
  'InstrumentType': InstrumentType;
  'Intent': Intent;
  'MerchantAccountSummary': MerchantAccountSummary;
  'Method': Method;
  'PageCursor': PageCursor;
  'PageLimit': PageLimit;
  'PaymentMethod': PaymentMethod;
  'PaymentMethodCreatedEvent': PaymentMethodCreatedEvent;
  'PaymentMethodMode': PaymentMethodMode;
  'PaymentMethodStatus': PaymentMethodStatus;
  'PaymentMethodUpdatedEvent': PaymentMethodUpdatedEvent;
  'PaymentService': PaymentService;
  'RedeemedGiftCard': RedeemedGiftCard;
  'Role': Role;
  'RolePermissions': RolePermissions;
  'TaxId': TaxId;
  'Timestamp': Timestamp;
  'Transaction': Transaction;
  'TransactionBuyer': TransactionBuyer;
  'TransactionCollection': TransactionCollection;
  'TransactionCreatedEvent': TransactionCreatedEvent;
  'TransactionPageLimit': TransactionPageLimit;
  'TransactionPaymentMethod': TransactionPaymentMethod;
  'TransactionStatus': TransactionStatus;
  'TransactionUpdatedEvent': TransactionUpdatedEvent;
  'WebhookSubscription': WebhookSubscription;
  'WebhookSubscriptionCollection': WebhookSubscriptionCollection;
}

/** The body of a success. */
export interface Answers {
  'GET /api-key-pairs': ApiKeyPairCollection;
  'POST /gift-cards/balances': GiftCardBalanceCollection;
  'POST /payment-methods': PaymentMethod;
  'GET /transactions': TransactionCollection;
  'GET /card-scheme-definitions': CardSchemeDefinitionCollection;
  'POST /webhook-subscriptions': WebhookSubscription;
  'GET /webhook-subscriptions': WebhookSubscriptionCollection;
}

/** The payload of an event. */
export interface EventPayloads {
  'payment-method.created': PaymentMethodCreatedEvent;
  'payment-method.updated': PaymentMethodUpdatedEvent;
  'transaction.created': TransactionCreatedEvent;
  'transaction.updated': TransactionUpdatedEvent;
}
