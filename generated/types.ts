// Written by `npm run generate` from openapi/. Do not edit.

export interface paths {
    "/api-key-pairs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API key pairs
         * @description Lists the key pairs that can sign access tokens, newest first. A key pair with access to all merchant accounts sees all pairs; any other sees those whose merchant accounts are among its own. The list never shows a private key. A cursor that was not issued for this list returns 422.
         */
        get: operations["listApiKeyPairs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/card-scheme-definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List card schemes
         * @description Lists every card scheme that the service knows, with a name and a badge to show to buyers. The list is short and comes whole. It is the same for every merchant account.
         */
        get: operations["listCardSchemeDefinitions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gift-cards/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check gift card balances
         * @description Verifies gift cards and reads their balances, stored ones by `id` and others by `number` and `pin`. The response has one item for each card, in the order of the request. A card whose look-up fails does not fail the request: its item carries `balance_error_code` and what the provider said. 502 means that the provider failed for the whole call, 504 that it or the service did not respond in time. You can try ten different PINs per card number, merchant account and hour. From the eleventh on, every PIN of that number returns `suspected_fraud`, in the sandbox too. Tokens with the scope `embed` may call this from a browser, 50 times a minute.
         */
        post: operations["checkGiftCardBalances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payment-methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store a card
         * @description Stores a card for later payments, for a buyer if you name one. The number is encrypted and never shown again; the
         *     security code is used and not stored. With an `Idempotency-Key` the request can be repeated without storing the card
         *     twice.
         *
         *     What can happen, and what to do:
         *
         *     - **201 `succeeded`**: the card can be used. Keep its `id`.
         *     - **201 `processing`**: the check is under way. Wait for the event `payment-method.updated`.
         *     - **201 `buyer_approval_required`**: send the buyer to `approval_url`.
         *     - **201 `failed`**: the card cannot be used, for example because its issuer declines it, its check digit is wrong or
         *       its date has passed; the response does not say why. Ask for another card. The failed one keeps its
         *       `external_identifier`.
         *     - **404**: the buyer does not exist. Check the buyer that you named.
         *     - **409**: the `external_identifier` is taken. See [A record that exists already](#section/A-record-that-exists-already).
         *     - **422**: the host of `redirect_url` is not valid, or the `Idempotency-Key` was used for another request. See [Kinds of 422](#section/Kinds-of-422).
         *     - **429**: too many cards, which is a limit against card testing. Wait `Retry-After` seconds, see
         *       [Rate limits](#section/Rate-limits).
         */
        post: operations["createPaymentMethod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transactions
         * @description Lists the transactions of a merchant account, newest first; with the merchant account `*`, those of every account
         *     that the key pair can reach. All filters may be combined: values of one filter are alternatives, different filters
         *     must all hold. A parameter that this list does not know returns 400, so a misspelt filter never lists everything.
         *     A cursor that was issued for other filters returns 422.
         *
         *     | Filter by | Parameters |
         *     | --- | --- |
         *     | what is asked most | `buyer_external_identifier`, `external_identifier`, `status`, `created_at_gte`, `created_at_lte`, `search` |
         *     | amount | `amount_eq`, `amount_gte`, `amount_lte`, `currency` |
         *     | time of the last change | `updated_at_gte`, `updated_at_lte` |
         *     | other identifiers | `id`, `buyer_id`, `checkout_session_id`, `reconciliation_id`, `payment_service_id`, `payment_service_transaction_id`, `metadata` |
         *     | payment method | `method`, `payment_method_id`, `payment_method_label`, `payment_method_bin` |
         *     | how it was paid | `payment_source`, `merchant_initiated`, `is_subsequent_payment` |
         *     | what happened since | `has_refunds`, `has_settlements`, `pending_review` |
         *     | gift card | `gift_card_id`, `gift_card_last4`, `has_gift_card_redemptions` |
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook subscriptions
         * @description Lists the subscriptions of a merchant account, newest first; with the merchant account `*`, those of every account that the key pair can reach. Subscriptions for all merchant accounts are listed only to key pairs with access to all of them. Passwords are masked. A cursor that was not issued for this list returns 422.
         */
        get: operations["listWebhookSubscriptions"];
        put?: never;
        /**
         * Create a webhook subscription
         * @description Registers an address that events are delivered to from now on. The response carries the `secret` that signs deliveries; see [Webhooks](#section/Webhooks) for checking a signature. With the merchant account `*`, which takes a key pair with access to all merchant accounts (any other returns 403), the subscription receives the events of all of them. Plain http returns 422 in production, and so does a host that is no valid name or IP address, and a subscription beyond the limits: a merchant account has at most 50 active subscriptions and 500 in all, and the same holds for those for all accounts. With an `Idempotency-Key` the request can be repeated without creating a second subscription. No operation removes a subscription again: your operator does, with `payments webhooks delete ID`.
         */
        post: operations["createWebhookSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "payment-method.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment method was created
         * @description Sent after a payment method was stored, whatever its status. `target` is the whole resource. Check the signature before you trust the payload; see [Webhooks](#section/Webhooks). Deliveries may repeat and overtake each other: deduplicate on `webhook-id`.
         */
        post: operations["onPaymentMethodCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment-method.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment method changed
         * @description Sent after a payment method changed: a new status, or new card details. `target` is the whole resource. Check the signature before you trust the payload; see [Webhooks](#section/Webhooks). Deliveries may repeat and overtake each other: deduplicate on `webhook-id`.
         */
        post: operations["onPaymentMethodUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A transaction was created
         * @description Sent after a transaction was created. `target` is the whole resource. Check the signature before you trust the payload; see [Webhooks](#section/Webhooks). Deliveries may repeat and overtake each other: deduplicate on `webhook-id`.
         */
        post: operations["onTransactionCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A transaction changed
         * @description Sent after a transaction changed: a new status, or new amounts. `target` is the whole resource. Check the signature before you trust the payload; see [Webhooks](#section/Webhooks). Deliveries may repeat and overtake each other: deduplicate on `webhook-id`.
         */
        post: operations["onTransactionUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description A postal address. */
        Address: {
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
        };
        /**
         * Format: int64
         * @description An amount in the smallest unit of its currency, such as cents. `1299` in USD is $12.99.
         */
        Amount: number;
        /** @description A key pair whose private half signs access tokens. */
        ApiKeyPair: {
            /** @description Whether the pair can authenticate. Tokens of an inactive pair return 401. */
            active: boolean;
            algorithm: components["schemas"]["CertificateAlgorithm"];
            /** @description When the pair was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Who created the pair; null for a pair that an operator created. */
            creator: components["schemas"]["Creator"] | null;
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
            merchant_accounts: components["schemas"]["MerchantAccountSummary"][];
            /** @description The private key, PEM-encoded. It is there only in the response that creates the pair, and only when the service made the keys; it cannot be retrieved later, so no list shows it. */
            private_key?: string | null;
            /** @description The roles of the pair. It may do what some role of its allows, and nothing else. */
            roles: components["schemas"]["Role"][];
            /** @description The RFC 7638 thumbprint of the public key (SHA-256, base64url). It is the `kid` of every token that the pair signs. */
            thumbprint: string;
            /**
             * @description Always `api-key-pair`.
             * @constant
             */
            type: "api-key-pair";
            /** @description When the pair last changed. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description A page of API key pairs. */
        ApiKeyPairCollection: {
            /** @description The key pairs of this page, newest first. */
            items: components["schemas"]["ApiKeyPair"][];
            limit: components["schemas"]["PageLimit"];
            /** @description Send this as `cursor` for the page of older items; null on the last page. */
            next_cursor: components["schemas"]["PageCursor"];
            /** @description Send this as `cursor` for the page of newer items; null on the first page. */
            previous_cursor: components["schemas"]["PageCursor"];
        };
        /**
         * @description Where the approval URL must be opened. `any` is no requirement.
         * @enum {string}
         */
        ApprovalTarget: "any" | "new_window";
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
        BalanceErrorCode: "invalid_gift_card" | "expired_card" | "inactive_card" | "incorrect_currency" | "insufficient_funds" | "suspected_fraud" | "operation_canceled" | "invalid_service_credentials" | "invalid_service_configuration" | "service_error" | "service_network_error" | "unknown_error";
        /** @description HTTP basic authentication, sent with each delivery. */
        BasicAuthentication: {
            /**
             * @description Always `basic`.
             * @constant
             */
            kind: "basic";
            /** @description The password. Responses show `********` instead. */
            password: components["schemas"]["FreeText"];
            /** @description The user name. It cannot contain a colon (RFC 7617). */
            username: string;
        };
        /** @description Name, address and tax ID for the bill. */
        BillingDetails: {
            /** @description The postal address; null when not known. */
            address: components["schemas"]["Address"] | null;
            /** @description The e-mail address. */
            email_address: string | null;
            /** @description The first name. */
            first_name: string | null;
            /** @description The last name. */
            last_name: string | null;
            /** @description The phone number, with its country code. */
            phone_number: string | null;
            /** @description The tax ID; null when not known. */
            tax_id: components["schemas"]["TaxId"] | null;
            /**
             * @description Always `billing-details`.
             * @constant
             */
            type: "billing-details";
        };
        /** @description Someone who buys from a merchant. */
        Buyer: {
            /** @description The number of the buyer's account with the merchant. */
            account_number: string | null;
            /** @description Name and address for the bill; null when not known. */
            billing_details: components["schemas"]["BillingDetails"] | null;
            /** @description When the buyer was created. */
            created_at: components["schemas"]["Timestamp"];
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
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description What is known of the card from its number. */
        CardDetails: {
            /** @description The first eight digits of a number of 16 or more, the first six of a shorter one. */
            bin: string | null;
            /** @description The bank that issued the card; null when not known. */
            card_issuer_name: string | null;
            /** @description The kind of account behind the card; null when not known. */
            card_type: components["schemas"]["CardType"] | null;
        };
        /**
         * @description A card scheme.
         * @enum {string}
         */
        CardScheme: "accel" | "amex" | "bancontact" | "carte-bancaire" | "cirrus" | "culiance" | "dankort" | "diners-club" | "discover" | "eftpos-australia" | "elo" | "hipercard" | "jcb" | "maestro" | "mastercard" | "mir" | "nyce" | "other" | "pulse" | "rupay" | "star" | "uatp" | "unionpay" | "visa";
        /** @description A card scheme, with what one needs to show it to a buyer. */
        CardSchemeDefinition: {
            /** @description The name of the scheme. */
            display_name: string;
            /**
             * Format: uri
             * @description The address of a badge for the scheme (SVG).
             */
            icon_url: string;
            /** @description The identifier of the scheme, as found in `scheme` of a payment method. */
            id: components["schemas"]["CardScheme"];
            /**
             * @description Always `card-scheme-definition`.
             * @constant
             */
            type: "card-scheme-definition";
        };
        /** @description All card schemes. The list is short and comes whole, so it has no pages. */
        CardSchemeDefinitionCollection: {
            /** @description The card schemes, by their identifiers. */
            items: components["schemas"]["CardSchemeDefinition"][];
        };
        /**
         * @description The kind of account behind the card.
         * @enum {string}
         */
        CardType: "credit" | "debit" | "prepaid";
        /**
         * @description The algorithm of the key pair, which decides how its tokens are signed: `ECDSA` on P-521 signs ES512, `RSA` of 2048 bits or more signs RS512.
         * @enum {string}
         */
        CertificateAlgorithm: "ECDSA" | "RSA";
        /** @description An error that names the record which stands in the way. */
        ConflictError: {
            code: components["schemas"]["ErrorCode"];
            /**
             * @description Everything that is wrong with the request; empty where there is nothing to point at.
             * @default []
             */
            details: components["schemas"]["ErrorDetail"][];
            /** @description The message of the status. */
            message: string;
            /** @description The ID of the record that has the value already. */
            resource_id: string | null;
            /** @description The HTTP status. */
            status: number;
            /**
             * @description Always `error`.
             * @constant
             */
            type: "error";
        };
        /** @description A two-letter ISO 3166-1 country code. */
        CountryCode: string;
        /** @description The user or the API key pair that created something. */
        Creator: {
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
        };
        /** @description A three-letter ISO 4217 currency code. */
        CurrencyCode: string;
        /** @description The body of every error, except for 409 (which adds `resource_id`) and 422 (which has a shape of its own). */
        Error: {
            code: components["schemas"]["ErrorCode"];
            /**
             * @description Everything that is wrong with the request, all at once, but at most 100 faults; empty where there is nothing to point at.
             * @default []
             */
            details: components["schemas"]["ErrorDetail"][];
            /** @description The message of the status. What exactly is wrong stands in `details`. */
            message: string;
            /** @description The HTTP status. */
            status: number;
            /**
             * @description Always `error`.
             * @constant
             */
            type: "error";
        };
        /**
         * @description The machine-readable kind of the error.
         * @enum {string}
         */
        ErrorCode: "bad_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "duplicate_record" | "too_early" | "too_many_requests" | "server_error" | "bad_gateway" | "gateway_timeout";
        /** @description One thing that is wrong with the request. */
        ErrorDetail: {
            /**
             * @description The part of the request.
             * @enum {string}
             */
            location: "body" | "query" | "path" | "header";
            /** @description What is wrong, for a person who wants to fix it. */
            message: string;
            /** @description A JSON pointer (RFC 6901) to the offending property, also when it is missing or unknown: `/number`, `/items/0/pin`, `/limit`. For a header its name in lower case: `/x-service-merchant-account-id`. */
            pointer: string;
            type: components["schemas"]["ErrorDetailType"];
        };
        /**
         * @description The kind of fault. The examples are all kinds of this version; a later one may add others. A value of another JSON type than the contract's is `type_error.` and the type that it must have.
         * @example value_error.body
         * @example value_error.body_too_large
         * @example value_error.const
         * @example value_error.content_type
         * @example value_error.cursor
         * @example value_error.datetime
         * @example value_error.duplicate
         * @example value_error.enum
         * @example value_error.exclusive
         * @example value_error.extra
         * @example value_error.idempotency_key.reused
         * @example value_error.jsondecode
         * @example value_error.list.max_items
         * @example value_error.list.min_items
         * @example value_error.metadata
         * @example value_error.missing
         * @example value_error.not
         * @example value_error.not_found
         * @example value_error.number.not_ge
         * @example value_error.number.not_le
         * @example value_error.number.size
         * @example value_error.scope
         * @example value_error.str.max_length
         * @example value_error.str.min_length
         * @example value_error.str.regex
         * @example value_error.too_many
         * @example value_error.url
         * @example value_error.url.host
         * @example value_error.url.scheme
         * @example value_error.url_encoding
         * @example value_error.uuid
         * @example type_error.array
         * @example type_error.boolean
         * @example type_error.integer
         * @example type_error.number
         * @example type_error.object
         * @example type_error.string
         */
        ErrorDetailType: string;
        /** @description The month and year in which a card expires, MM/YY. */
        ExpirationDate: string;
        /** @description Text of the caller's own choosing, 1 to 200 characters, without U+0000. */
        FreeText: string;
        /** @description A gift card and its latest balance. Where the look-up failed, `balance` is null and the three error fields say why; otherwise the error fields are absent. */
        GiftCardBalance: {
            /** @description The latest balance, in the smallest unit of `currency`; null when the look-up failed. */
            balance: components["schemas"]["Amount"] | null;
            balance_error_code?: components["schemas"]["BalanceErrorCode"];
            /** @description The code as the gift card provider gave it, cut at 200 characters, with numbers and PINs of the cards masked. Present only when the look-up failed. */
            balance_raw_error_code?: string | null;
            /** @description The message as the gift card provider gave it, cut at 200 characters, with numbers and PINs of the cards masked. Present only when the look-up failed. */
            balance_raw_error_message?: string | null;
            /** @description The first six digits of the card number; null for an unknown card. */
            bin: string | null;
            /** @description The currency of the balance; null when the look-up failed. */
            currency: components["schemas"]["CurrencyCode"] | null;
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
        };
        /** @description The balances that were asked for, in the order of the request. */
        GiftCardBalanceCollection: {
            /** @description One item for each card of the request, in the same order. */
            items: components["schemas"]["GiftCardBalance"][];
        };
        /**
         * Not stored
         * @description A gift card that is not stored, by its number and PIN.
         */
        GiftCardBalanceNew: {
            /** @description The card number, 16 to 19 digits. */
            number: string;
            /** @description The PIN of the card, 1 to 200 characters. */
            pin: components["schemas"]["FreeText"];
        };
        /** @description The gift cards to check. */
        GiftCardBalanceRequest: {
            /** @description The gift cards. Each is either a card that is not stored, or a stored one; never both. */
            items: (components["schemas"]["GiftCardBalanceNew"] | components["schemas"]["GiftCardBalanceStored"])[];
        };
        /**
         * Stored
         * @description A gift card that is stored, by its ID.
         */
        GiftCardBalanceStored: {
            /**
             * Format: uuid
             * @description The ID of the stored gift card. One that this merchant account does not have is returned as an item with `balance_error_code` `invalid_gift_card`.
             */
            id: string;
        };
        /** @description A part of a transaction that a gift card paid. */
        GiftCardRedemption: {
            /** @description The amount that the gift card paid. */
            amount: components["schemas"]["Amount"];
            /** @description Why the redemption failed; null when it did not. */
            error_code: string | null;
            /** @description The gift card; null when not known. */
            gift_card: components["schemas"]["RedeemedGiftCard"] | null;
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
            refunded_amount: components["schemas"]["Amount"];
            status: components["schemas"]["GiftCardRedemptionStatus"];
            /**
             * @description Always `gift-card-redemption`.
             * @constant
             */
            type: "gift-card-redemption";
        };
        /**
         * @description Where the redemption stands.
         * @enum {string}
         */
        GiftCardRedemptionStatus: "created" | "succeeded" | "failed" | "skipped";
        /** @description A cursor of an earlier response; absent, empty or `null` for the first page. */
        GivenCursor: string | null;
        /**
         * @description The kind of instrument that was given to the payment service.
         * @enum {string}
         */
        InstrumentType: "pan" | "card_token" | "redirect" | "redirect_token" | "googlepay" | "applepay" | "network_token" | "plaid" | "bank";
        /**
         * @description What was asked for, `authorize` (reserve the amount) or `capture` (reserve and take it at once).
         * @enum {string}
         */
        Intent: "authorize" | "capture";
        /** @description A merchant account, as far as an API key pair needs to tell of it. */
        MerchantAccountSummary: {
            /** @description When the merchant account was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The name of the merchant account. */
            display_name: string;
            /** @description The ID of the merchant account, as sent in `X-Service-Merchant-Account-ID`. */
            id: string;
            /** @description How much more than the authorized amount may be captured. */
            over_capture_amount: components["schemas"]["Amount"];
            /** @description How much more than the authorized amount may be captured, in percent; null when there is no such limit. */
            over_capture_percentage: number | null;
            /**
             * @description Always `merchant-account`.
             * @constant
             */
            type: "merchant-account";
            /** @description When the merchant account last changed. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description A kind of payment method.
         * @enum {string}
         */
        Method: "affirm" | "afterpay" | "alipay" | "alipayhk" | "applepay" | "bacs" | "bancontact" | "banked" | "becs" | "bitpay" | "boleto" | "boost" | "card" | "cashapp" | "chaseorbital" | "checkout-session" | "clearpay" | "click-to-pay" | "dana" | "dcb" | "dlocal" | "ebanx" | "efecty" | "eps" | "everydaypay" | "gcash" | "gem" | "gemds" | "gift-card" | "giropay" | "givingblock" | "gocardless" | "googlepay" | "googlepay_pan_only" | "gopay" | "grabpay" | "id" | "ideal" | "kakaopay" | "kcp" | "klarna" | "latitude" | "latitudeds" | "laybuy" | "linepay" | "linkaja" | "maybankqrpay" | "mercadopago" | "multibanco" | "multipago" | "netbanking" | "network-token" | "oney_3x" | "oney_4x" | "oney_6x" | "oney_10x" | "oney_12x" | "ovo" | "oxxo" | "payid" | "paymaya" | "paypal" | "paypalpaylater" | "payto" | "venmo" | "pix" | "pse" | "rabbitlinepay" | "razorpay" | "scalapay" | "sepa" | "shopeepay" | "singteldash" | "smartpay" | "sofort" | "spei" | "stripedd" | "thaiqr" | "touchngo" | "truemoney" | "trustly" | "trustlyeurope" | "upi" | "vipps" | "waave" | "webpay" | "wechat" | "zippay";
        /** @description An opaque pointer to another page of the same list, or null when there is none. */
        PageCursor: string | null;
        /**
         * Format: int32
         * @description The number of items requested for the page; the default where the request named none.
         * @default 20
         */
        PageLimit: number;
        /** @description A stored way to pay. */
        PaymentMethod: {
            /** @description Further schemes that the card belongs to; null when there is none. Cards only. */
            additional_schemes: components["schemas"]["CardScheme"][] | null;
            /** @description Where the approval URL must be opened. Null or `any` is no requirement. */
            approval_target: components["schemas"]["ApprovalTarget"] | null;
            /**
             * Format: uri
             * @description Where the buyer must be sent to approve; null when there is nothing to approve.
             */
            approval_url: string | null;
            /** @description The buyer that the method is stored for; null when it is stored for none. */
            buyer: components["schemas"]["Buyer"] | null;
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
            country: components["schemas"]["CountryCode"] | null;
            /** @description When the payment method was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The currency that the method is for; null when it is usable for several. */
            currency: components["schemas"]["CurrencyCode"] | null;
            details: components["schemas"]["CardDetails"];
            /** @description The month and year in which the card expires, MM/YY. */
            expiration_date: components["schemas"]["ExpirationDate"] | null;
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
            method: components["schemas"]["Method"];
            mode: components["schemas"]["PaymentMethodMode"];
            /** @description The scheme of the card. Cards only. */
            scheme: components["schemas"]["CardScheme"] | null;
            status: components["schemas"]["PaymentMethodStatus"];
            /**
             * @description Always `payment-method`.
             * @constant
             */
            type: "payment-method";
            /** @description When the payment method last changed. */
            updated_at: components["schemas"]["Timestamp"];
            /**
             * Format: int32
             * @description How often the method was used in transactions.
             */
            usage_count: number;
        };
        /** @description The card to store. */
        PaymentMethodCreate: {
            /** @description Your own reference of the buyer to store the card for. Cannot be combined with `buyer_id`. */
            buyer_external_identifier?: components["schemas"]["FreeText"];
            /**
             * Format: uuid
             * @description The ID of the buyer to store the card for. Cannot be combined with `buyer_external_identifier`.
             */
            buyer_id?: string;
            /** @description The month and year in which the card expires, MM/YY. */
            expiration_date: components["schemas"]["ExpirationDate"];
            /** @description Your own reference for this payment method, unique within the merchant account. */
            external_identifier?: string | null;
            /**
             * @description The kind of payment method. Only `card` can be stored this way.
             * @enum {string}
             */
            method: "card";
            /** @description The card number, 13 to 19 digits without spaces. */
            number: string;
            /**
             * Format: uri
             * @description Where the buyer returns after approving or declining: an `http://` or `https://` address with a host and without a user name or password. A host that is no valid name or IPv4 address, such as `256.1.1.1`, returns 422; one in brackets that is no IPv6 address, such as `[::1::2]`, returns 400. It matters only to cards that need the buyer's approval.
             */
            redirect_url?: string | null;
            /** @description The security code of the card (CVV, CVC), 3 or 4 digits. It is used once and never stored. */
            security_code?: string | null;
        };
        /** @description Tells that a payment method was created. */
        PaymentMethodCreatedEvent: {
            /** @description When it happened. */
            created_at: components["schemas"]["Timestamp"];
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
            target: components["schemas"]["PaymentMethod"];
            /**
             * @description Always `event`.
             * @constant
             */
            type: "event";
        };
        /**
         * @description How the payment method is used.
         * @enum {string}
         */
        PaymentMethodMode: "card" | "redirect" | "applepay" | "googlepay" | "click-to-pay" | "checkout-session";
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
        PaymentMethodStatus: "processing" | "buyer_approval_required" | "succeeded" | "failed";
        /** @description Tells that a payment method changed. */
        PaymentMethodUpdatedEvent: {
            /** @description When it happened. */
            created_at: components["schemas"]["Timestamp"];
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
            target: components["schemas"]["PaymentMethod"];
            /**
             * @description Always `event`.
             * @constant
             */
            type: "event";
        };
        /** @description A connection to a payment service provider. */
        PaymentService: {
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
        };
        /**
         * @description Where the payment comes from.
         * @enum {string}
         */
        PaymentSource: "ecommerce" | "moto" | "recurring" | "installment" | "card_on_file";
        /** @description The gift card of a redemption. */
        RedeemedGiftCard: {
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
        };
        /** @description A named set of permissions. */
        Role: {
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
            permissions: components["schemas"]["RolePermissions"];
            /** @description The name of the role, for programs. */
            slug: string;
            /**
             * @description Always `role`.
             * @constant
             */
            type: "role";
        };
        /** @description What the role allows. */
        RolePermissions: {
            /** @description Permissions of the form `<resource>.read` or `<resource>.write`; `*.read` and `*.write` stand for every resource. */
            allow: string[];
        };
        /** @description A tax ID and its kind. */
        TaxId: {
            /** @description The kind of tax ID, such as `us.ein` or `gb.vat`. */
            kind: string | null;
            /** @description The tax ID itself. */
            value: string | null;
        };
        /**
         * Format: date-time
         * @description A date and time with its time zone (RFC 3339), precise to the millisecond. Leap seconds (`:60`) are not used.
         */
        Timestamp: string;
        /** @description A payment. Nested objects (buyer, payment method, service, gift cards) show their state when the payment was made. */
        Transaction: {
            /** @description The amount that was asked for, in the smallest unit of `currency`. */
            amount: components["schemas"]["Amount"];
            /** @description The amount that is or was reserved. */
            authorized_amount: components["schemas"]["Amount"];
            /** @description The buyer; null when there is none. */
            buyer: components["schemas"]["TransactionBuyer"] | null;
            /** @description The amount that was captured. */
            captured_amount: components["schemas"]["Amount"];
            /**
             * Format: uuid
             * @description The checkout session that the transaction came from.
             */
            checkout_session_id: string | null;
            /** @description The country of the transaction. */
            country: components["schemas"]["CountryCode"] | null;
            /** @description When the transaction was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The currency of the amounts. */
            currency: components["schemas"]["CurrencyCode"];
            /** @description The merchant's own reference. */
            external_identifier: string | null;
            /** @description The gift cards that paid a part of the amount; empty when there are none. */
            gift_card_redemptions: components["schemas"]["GiftCardRedemption"][];
            /**
             * Format: uuid
             * @description The ID of the transaction.
             */
            id: string;
            /** @description The kind of instrument that was given to the payment service; null when there is none. */
            instrument_type: components["schemas"]["InstrumentType"] | null;
            intent: components["schemas"]["Intent"];
            /** @description The merchant account that the transaction belongs to. */
            merchant_account_id: string;
            /** @description The kind of payment method; null when none was used. */
            method: components["schemas"]["Method"] | null;
            /** @description The payment method; null when none was used. */
            payment_method: components["schemas"]["TransactionPaymentMethod"] | null;
            /** @description The payment service that processed the transaction; null when none did. */
            payment_service: components["schemas"]["PaymentService"] | null;
            /** @description Whether a manual review is pending. */
            pending_review: boolean;
            /** @description The response code as the payment service gave it. */
            raw_response_code: string | null;
            /** @description The response text as the payment service gave it. */
            raw_response_description: string | null;
            /** @description The identifier to find this transaction by in the payment service's reports. */
            reconciliation_id: string | null;
            /** @description The amount that was refunded, gift cards not counted. */
            refunded_amount: components["schemas"]["Amount"];
            /** @description Whether the transaction has been settled. */
            settled: boolean;
            /** @description The amount that was settled, in the smallest unit of `settled_currency`. */
            settled_amount: components["schemas"]["Amount"];
            /** @description The currency of the settlement; null when nothing was settled. */
            settled_currency: components["schemas"]["CurrencyCode"] | null;
            status: components["schemas"]["TransactionStatus"];
            /**
             * @description Always `transaction`.
             * @constant
             */
            type: "transaction";
            /** @description When the transaction last changed. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description The buyer of a transaction, as it was at the time. */
        TransactionBuyer: {
            /** @description The number of the buyer's account with the merchant. */
            account_number: string | null;
            /** @description Name and address for the bill; null when not known. */
            billing_details: components["schemas"]["BillingDetails"] | null;
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
        };
        /** @description A page of transactions. */
        TransactionCollection: {
            /** @description The transactions of this page, newest first. */
            items: components["schemas"]["Transaction"][];
            limit: components["schemas"]["TransactionPageLimit"];
            /** @description Send this as `cursor` for the page of older items; null on the last page. */
            next_cursor: components["schemas"]["PageCursor"];
            /** @description Send this as `cursor` for the page of newer items; null on the first page. */
            previous_cursor: components["schemas"]["PageCursor"];
        };
        /** @description Tells that a transaction was created. */
        TransactionCreatedEvent: {
            /** @description When it happened. */
            created_at: components["schemas"]["Timestamp"];
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
            target: components["schemas"]["Transaction"];
            /**
             * @description Always `event`.
             * @constant
             */
            type: "event";
        };
        /**
         * Format: int32
         * @description The number of transactions requested for the page; the default where the request named none.
         * @default 20
         */
        TransactionPageLimit: number;
        /** @description The payment method of a transaction, as it was at the time. */
        TransactionPaymentMethod: {
            /** @description Where the approval URL had to be opened. Null or `any` is no requirement. */
            approval_target: components["schemas"]["ApprovalTarget"] | null;
            /**
             * Format: uri
             * @description Where the buyer had to be sent to approve; null when there was nothing to approve.
             */
            approval_url: string | null;
            /** @description The country that the method is for; null when it is usable in several. */
            country: components["schemas"]["CountryCode"] | null;
            /** @description The currency that the method is for; null when it is usable for several. */
            currency: components["schemas"]["CurrencyCode"] | null;
            details: components["schemas"]["CardDetails"];
            /** @description The month and year in which the card expires, MM/YY. */
            expiration_date: components["schemas"]["ExpirationDate"] | null;
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
            method: components["schemas"]["Method"];
            /** @description The PAR of the card, which stays the same across its tokens; null when not known. */
            payment_account_reference: string | null;
            /** @description The scheme of the card. Cards only. */
            scheme: components["schemas"]["CardScheme"] | null;
            /**
             * @description Always `payment-method`.
             * @constant
             */
            type: "payment-method";
        };
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
        TransactionStatus: "processing" | "buyer_approval_pending" | "authorization_succeeded" | "authorization_failed" | "authorization_declined" | "capture_pending" | "capture_succeeded" | "authorization_void_pending" | "authorization_voided";
        /** @description Tells that a transaction changed. */
        TransactionUpdatedEvent: {
            /** @description When it happened. */
            created_at: components["schemas"]["Timestamp"];
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
            target: components["schemas"]["Transaction"];
            /**
             * @description Always `event`.
             * @constant
             */
            type: "event";
        };
        /** @description The request matches this contract and still cannot be processed. `detail` says why; see [Kinds of 422](#section/Kinds-of-422). */
        ValidationError: {
            /** @description Everything that cannot be processed. */
            detail: components["schemas"]["ValidationErrorDetail"][];
        };
        /** @description One thing that cannot be processed. */
        ValidationErrorDetail: {
            /** @description Further facts on the fault. */
            ctx?: {
                [key: string]: string | number | boolean | null;
            };
            /** @description The value that was sent, where repeating it is safe. */
            input?: unknown;
            /** @description Where it stands, such as `["query", "cursor"]`. */
            loc: (string | number)[];
            /** @description What is wrong, for a person who wants to fix it. */
            msg: string;
            type: components["schemas"]["ErrorDetailType"];
        };
        /** @description An address that events are delivered to. */
        WebhookSubscription: {
            /** @description Whether events are sent. When false, none are. */
            active: boolean;
            /** @description How deliveries authenticate themselves to the address; null when they do not. The password is masked. */
            authentication: components["schemas"]["BasicAuthentication"] | null;
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
        };
        /** @description A page of webhook subscriptions. */
        WebhookSubscriptionCollection: {
            /** @description The subscriptions of this page, newest first. */
            items: components["schemas"]["WebhookSubscription"][];
            limit: components["schemas"]["PageLimit"];
            /** @description Send this as `cursor` for the page of older items; null on the last page. */
            next_cursor: components["schemas"]["PageCursor"];
            /** @description Send this as `cursor` for the page of newer items; null on the first page. */
            previous_cursor: components["schemas"]["PageCursor"];
        };
        /** @description The subscription to create. */
        WebhookSubscriptionCreate: {
            /**
             * @description Whether events are sent.
             * @default true
             */
            active?: boolean;
            /** @description How deliveries authenticate themselves to the address. */
            authentication?: components["schemas"]["BasicAuthentication"] | null;
            /**
             * Format: uri
             * @description The address to send events to, `https://` or, in the sandbox only, `http://`. It needs a host and, if it names a port, one from 1 to 65535; a user name and password belong in `authentication`, not here. A host that is no valid name or IPv4 address, such as `256.1.1.1`, returns 422; one in brackets that is no IPv6 address, such as `[::1::2]`, returns 400. Whether the address may be reached is judged at each delivery.
             */
            url: string;
        };
    };
    responses: {
        /** @description A provider behind the service returned nonsense for the whole call. Try again later. */
        BadGateway: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, the query or a header does not match this contract. `details` names everything that is wrong. */
        BadRequest: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, the query or a header does not match this contract. `details` names everything that is wrong. */
        BadRequestGiftCards: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, the query or a header does not match this contract. `details` names everything that is wrong. */
        BadRequestPaymentMethod: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, the query or a header does not match this contract. `details` names everything that is wrong. */
        BadRequestWebhookSubscription: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Another record has the same unique value. `details` points at the value, `resource_id` names the record; nothing was changed. See [A record that exists already](#section/A-record-that-exists-already). */
        Conflict: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ConflictError"];
            };
        };
        /** @description The token is valid, but its scopes, or the roles of its key pair, do not reach this operation. `details` names the scope that it needs, or the header that asks for more than the key pair may reach. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service could not respond in time: its database is away, slow or has too many requests waiting, or a provider behind the service did not respond in time for the whole call. Try again after `Retry-After`. A read can simply be repeated. A write may have been carried out: repeat it with the same `Idempotency-Key`, which never does anything twice, or look for the record before you create it again. */
        GatewayTimeout: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The path exists, but not with this HTTP method. `Allow` names those it has. */
        MethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Something that the request names (the merchant account, a buyer, a record) does not exist, or the key pair has no access to it. `details` points at the field that named it. */
        NotFound: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Something that the request names (the merchant account, a buyer, a record) does not exist, or the key pair has no access to it. `details` points at the field that named it. */
        NotFoundPaymentMethod: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Something went wrong on our side. A read can simply be repeated. A write is rolled back as a rule, but it may have been carried out, with only its confirmation lost: repeat it with the same `Idempotency-Key`, which never does anything twice, or look for the record before you create it again. Quote `X-Request-ID` when you ask us. */
        ServerError: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request came as TLS early data (marked with an `Early-Data` header, RFC 8470) and could be a replay. Send it again once the handshake is complete. */
        TooEarly: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many cards in the last minute, or too many different numbers with the same BIN and last four digits in 24 hours; then also for a request that is repeated with its `Idempotency-Key`. Nothing was stored. `Retry-After` says when the next one is accepted. */
        TooManyCards: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token has used up its requests for this minute. `Retry-After` says when it may go on. */
        TooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token is missing, malformed, expired, not signed by an active key pair, or lives longer than 24 hours. Sign a new one. */
        Unauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The cursor was not issued for this list by this service. See [Kinds of 422](#section/Kinds-of-422). */
        UnprocessableCursor: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
        /** @description The host of `redirect_url` is not valid, such as `256.1.1.1`; or the `Idempotency-Key` was used for a request with another path or body. See [Kinds of 422](#section/Kinds-of-422). */
        UnprocessablePaymentMethod: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
        /** @description The cursor was not issued for this list, these filters and this merchant account, or a `metadata` filter is not a JSON object of strings. See [Kinds of 422](#section/Kinds-of-422). */
        UnprocessableTransactionQuery: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
        /** @description The host of the address is not valid, such as `256.1.1.1`; or the address uses plain http, which production does not allow; or there are too many subscriptions; or the `Idempotency-Key` was used for a request with another path or body. See [Kinds of 422](#section/Kinds-of-422). */
        UnprocessableWebhookSubscription: {
            headers: {
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
    };
    parameters: {
        /**
         * @description Only transactions of exactly this amount.
         * @example 1299
         */
        AmountEqFilter: components["schemas"]["Amount"];
        /**
         * @description Only transactions of this amount or more.
         * @example 1000
         */
        AmountGteFilter: components["schemas"]["Amount"];
        /**
         * @description Only transactions of this amount or less.
         * @example 5000
         */
        AmountLteFilter: components["schemas"]["Amount"];
        /**
         * @description Only transactions of the buyer with this external identifier.
         * @example buyer-412
         */
        BuyerExternalIdentifierFilter: components["schemas"]["FreeText"];
        /**
         * @description Only transactions of the buyer with this ID. A value that is not a UUID matches nothing.
         * @example fe26475d-ec3e-4884-9553-f7356683f7f9
         */
        BuyerIdFilter: components["schemas"]["FreeText"];
        /** @description Only transactions that came from this checkout session. */
        CheckoutSessionIdFilter: string;
        /**
         * @description Only transactions created at this time or later. The time zone is required; URL-encode the value, `+` above all.
         * @example 2026-11-01T00:00:00Z
         */
        CreatedAtGteFilter: components["schemas"]["Timestamp"];
        /**
         * @description Only transactions created at this time or earlier. The time zone is required; URL-encode the value, `+` above all.
         * @example 2026-11-30T23:59:59.999Z
         */
        CreatedAtLteFilter: components["schemas"]["Timestamp"];
        /** @description Only transactions in one of these currencies. Repeat the parameter for several. */
        CurrencyFilter: components["schemas"]["CurrencyCode"][];
        /** @description `next_cursor` or `previous_cursor` of an earlier response, unchanged, with the same filters. Left out, empty and `null` all mean the first page, because clients write an absent value in each of these ways. */
        Cursor: components["schemas"]["GivenCursor"];
        /**
         * @description Only transactions with this external identifier.
         * @example order-9001
         */
        ExternalIdentifierFilter: components["schemas"]["FreeText"];
        /** @description Only transactions with at least one redemption of this stored gift card. */
        GiftCardIdFilter: string;
        /**
         * @description Only transactions with at least one redemption of a gift card whose number ends so.
         * @example 5678
         */
        GiftCardLast4Filter: string;
        /** @description True: only transactions with at least one gift card redemption. False: only those with none. */
        HasGiftCardRedemptionsFilter: boolean;
        /** @description True: only transactions with at least one completed refund, refunds to gift cards included. False: only those with none. */
        HasRefundsFilter: boolean;
        /** @description True: only transactions with at least one settlement. False: only those with none. */
        HasSettlementsFilter: boolean;
        /** @description Makes it safe to send this request again: a value of your choice that no other request of yours has, such as a random UUID. The same key with the same body returns the first response, and nothing is done twice; see [Idempotency](#section/Idempotency). */
        IdempotencyKey: string;
        /** @description Only the transaction with this ID. */
        IdFilter: string;
        /** @description True: only subsequent payments. False: only payments that are not. */
        IsSubsequentPaymentFilter: boolean;
        /** @description The size of the page. */
        Limit: number;
        /**
         * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
         * @example default
         */
        MerchantAccountId: string;
        /** @description True: only transactions that the merchant initiated. False: only those that the customer did. */
        MerchantInitiatedFilter: boolean;
        /** @description Only transactions whose metadata has all the given keys with equal values. Each value is a URL-encoded JSON object of strings, such as `{"channel":"web"}`. Several are merged in order; the last value of a key wins. Anything else, or more than 20 keys in all of them, returns 422. URL and headers together have at most 64 kB. */
        MetadataFilter: string[];
        /** @description Only transactions with one of these kinds of payment method. Repeat the parameter for several. */
        MethodFilter: components["schemas"]["Method"][];
        /**
         * @description Only transactions whose card has this BIN.
         * @example 41111111
         */
        PaymentMethodBinFilter: string;
        /** @description Only transactions with this payment method. */
        PaymentMethodIdFilter: string;
        /**
         * @description Only transactions whose payment method has exactly this label, such as the last four digits of a card.
         * @example 1111
         */
        PaymentMethodLabelFilter: components["schemas"]["FreeText"];
        /** @description Only transactions that one of these payment services processed. Repeat the parameter for several. */
        PaymentServiceIdFilter: string[];
        /** @description Only the transaction with this identifier of the payment service's own. */
        PaymentServiceTransactionIdFilter: components["schemas"]["FreeText"];
        /** @description Only transactions from one of these sources. Repeat the parameter for several. */
        PaymentSourceFilter: components["schemas"]["PaymentSource"][];
        /** @description True: only transactions with a manual review pending. False: only those without. */
        PendingReviewFilter: boolean;
        /** @description Only the transaction with this reconciliation identifier. */
        ReconciliationIdFilter: components["schemas"]["FreeText"];
        /**
         * @description Only transactions where this is exactly the buyer's external identifier or ID, or the transaction's external identifier, ID or payment service transaction ID. It is slow by nature; do not use it in production.
         * @example order-9001
         */
        SearchFilter: components["schemas"]["FreeText"];
        /** @description Only transactions in one of these states. Repeat the parameter for several. */
        StatusFilter: components["schemas"]["TransactionStatus"][];
        /** @description The size of the page. */
        TransactionLimit: number;
        /**
         * @description Only transactions last updated at this time or later. The time zone is required; URL-encode the value, `+` above all.
         * @example 2026-11-01T00:00:00Z
         */
        UpdatedAtGteFilter: components["schemas"]["Timestamp"];
        /**
         * @description Only transactions last updated at this time or earlier. The time zone is required; URL-encode the value, `+` above all.
         * @example 2026-11-30T23:59:59.999Z
         */
        UpdatedAtLteFilter: components["schemas"]["Timestamp"];
        /**
         * @description The ID of the event. It stays the same when a delivery is repeated.
         * @example 0b0c5a3e-7e0f-4a51-9d55-3f4d1f0f6a11
         */
        WebhookId: string;
        /**
         * @description One signature per valid secret, separated by spaces. Each is `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        WebhookSignature: string;
        /**
         * @description When this delivery was sent, in seconds since 1970. Refuse one that is more than five minutes off.
         * @example 1794479446
         */
        WebhookTimestamp: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The methods that this path knows, separated by commas.
         * @example GET
         */
        Allow: string;
        /**
         * @description Only where the request has an `Idempotency-Key`: `true` if this is the response to an earlier request with the same key, `false` if it is the first.
         * @example false
         */
        IdempotencyReplayed: boolean;
        /**
         * @description The ID of this request, as found in our logs. It is the one you sent in `X-Request-ID`, unchanged, if that was 1 to 128 letters, digits, `.`, `_`, `-` or `:`, and otherwise made here. In our logs, digits that could be a card number are masked but for the last four, unless the ID is a UUID.
         * @example 018f6b1e-5c7a-7d3e-9a41-0c2f5b8e7d10
         */
        RequestId: string;
        /**
         * @description How many seconds to wait before trying again.
         * @example 37
         */
        RetryAfter: number;
        /**
         * @description Which kind of token is expected (RFC 6750).
         * @example Bearer
         */
        WwwAuthenticate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listApiKeyPairs: {
        parameters: {
            query?: {
                /** @description `next_cursor` or `previous_cursor` of an earlier response, unchanged, with the same filters. Left out, empty and `null` all mean the first page, because clients write an absent value in each of these ways. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The size of the page. */
                limit?: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of API key pairs. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPairCollection"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableCursor"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
            502: components["responses"]["BadGateway"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    listCardSchemeDefinitions: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All card schemes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardSchemeDefinitionCollection"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["ServerError"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    checkGiftCardBalances: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The gift cards to check. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["GiftCardBalanceRequest"];
            };
        };
        responses: {
            /** @description The balances, in the order of the request. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GiftCardBalanceCollection"];
                };
            };
            400: components["responses"]["BadRequestGiftCards"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
            502: components["responses"]["BadGateway"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createPaymentMethod: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this request again: a value of your choice that no other request of yours has, such as a random UUID. The same key with the same body returns the first response, and nothing is done twice; see [Idempotency](#section/Idempotency). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The card to store. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMethodCreate"];
            };
        };
        responses: {
            /** @description The card is stored. Look at `status` before you use it. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
            400: components["responses"]["BadRequestPaymentMethod"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFoundPaymentMethod"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessablePaymentMethod"];
            425: components["responses"]["TooEarly"];
            429: components["responses"]["TooManyCards"];
            500: components["responses"]["ServerError"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /**
                 * @description Only transactions of exactly this amount.
                 * @example 1299
                 */
                amount_eq?: components["parameters"]["AmountEqFilter"];
                /**
                 * @description Only transactions of this amount or more.
                 * @example 1000
                 */
                amount_gte?: components["parameters"]["AmountGteFilter"];
                /**
                 * @description Only transactions of this amount or less.
                 * @example 5000
                 */
                amount_lte?: components["parameters"]["AmountLteFilter"];
                /**
                 * @description Only transactions of the buyer with this external identifier.
                 * @example buyer-412
                 */
                buyer_external_identifier?: components["parameters"]["BuyerExternalIdentifierFilter"];
                /**
                 * @description Only transactions of the buyer with this ID. A value that is not a UUID matches nothing.
                 * @example fe26475d-ec3e-4884-9553-f7356683f7f9
                 */
                buyer_id?: components["parameters"]["BuyerIdFilter"];
                /** @description Only transactions that came from this checkout session. */
                checkout_session_id?: components["parameters"]["CheckoutSessionIdFilter"];
                /**
                 * @description Only transactions created at this time or later. The time zone is required; URL-encode the value, `+` above all.
                 * @example 2026-11-01T00:00:00Z
                 */
                created_at_gte?: components["parameters"]["CreatedAtGteFilter"];
                /**
                 * @description Only transactions created at this time or earlier. The time zone is required; URL-encode the value, `+` above all.
                 * @example 2026-11-30T23:59:59.999Z
                 */
                created_at_lte?: components["parameters"]["CreatedAtLteFilter"];
                /** @description Only transactions in one of these currencies. Repeat the parameter for several. */
                currency?: components["parameters"]["CurrencyFilter"];
                /** @description `next_cursor` or `previous_cursor` of an earlier response, unchanged, with the same filters. Left out, empty and `null` all mean the first page, because clients write an absent value in each of these ways. */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Only transactions with this external identifier.
                 * @example order-9001
                 */
                external_identifier?: components["parameters"]["ExternalIdentifierFilter"];
                /** @description Only transactions with at least one redemption of this stored gift card. */
                gift_card_id?: components["parameters"]["GiftCardIdFilter"];
                /**
                 * @description Only transactions with at least one redemption of a gift card whose number ends so.
                 * @example 5678
                 */
                gift_card_last4?: components["parameters"]["GiftCardLast4Filter"];
                /** @description True: only transactions with at least one gift card redemption. False: only those with none. */
                has_gift_card_redemptions?: components["parameters"]["HasGiftCardRedemptionsFilter"];
                /** @description True: only transactions with at least one completed refund, refunds to gift cards included. False: only those with none. */
                has_refunds?: components["parameters"]["HasRefundsFilter"];
                /** @description True: only transactions with at least one settlement. False: only those with none. */
                has_settlements?: components["parameters"]["HasSettlementsFilter"];
                /** @description Only the transaction with this ID. */
                id?: components["parameters"]["IdFilter"];
                /** @description True: only subsequent payments. False: only payments that are not. */
                is_subsequent_payment?: components["parameters"]["IsSubsequentPaymentFilter"];
                /** @description The size of the page. */
                limit?: components["parameters"]["TransactionLimit"];
                /** @description True: only transactions that the merchant initiated. False: only those that the customer did. */
                merchant_initiated?: components["parameters"]["MerchantInitiatedFilter"];
                /** @description Only transactions whose metadata has all the given keys with equal values. Each value is a URL-encoded JSON object of strings, such as `{"channel":"web"}`. Several are merged in order; the last value of a key wins. Anything else, or more than 20 keys in all of them, returns 422. URL and headers together have at most 64 kB. */
                metadata?: components["parameters"]["MetadataFilter"];
                /** @description Only transactions with one of these kinds of payment method. Repeat the parameter for several. */
                method?: components["parameters"]["MethodFilter"];
                /**
                 * @description Only transactions whose card has this BIN.
                 * @example 41111111
                 */
                payment_method_bin?: components["parameters"]["PaymentMethodBinFilter"];
                /** @description Only transactions with this payment method. */
                payment_method_id?: components["parameters"]["PaymentMethodIdFilter"];
                /**
                 * @description Only transactions whose payment method has exactly this label, such as the last four digits of a card.
                 * @example 1111
                 */
                payment_method_label?: components["parameters"]["PaymentMethodLabelFilter"];
                /** @description Only transactions that one of these payment services processed. Repeat the parameter for several. */
                payment_service_id?: components["parameters"]["PaymentServiceIdFilter"];
                /** @description Only the transaction with this identifier of the payment service's own. */
                payment_service_transaction_id?: components["parameters"]["PaymentServiceTransactionIdFilter"];
                /** @description Only transactions from one of these sources. Repeat the parameter for several. */
                payment_source?: components["parameters"]["PaymentSourceFilter"];
                /** @description True: only transactions with a manual review pending. False: only those without. */
                pending_review?: components["parameters"]["PendingReviewFilter"];
                /** @description Only the transaction with this reconciliation identifier. */
                reconciliation_id?: components["parameters"]["ReconciliationIdFilter"];
                /**
                 * @description Only transactions where this is exactly the buyer's external identifier or ID, or the transaction's external identifier, ID or payment service transaction ID. It is slow by nature; do not use it in production.
                 * @example order-9001
                 */
                search?: components["parameters"]["SearchFilter"];
                /** @description Only transactions in one of these states. Repeat the parameter for several. */
                status?: components["parameters"]["StatusFilter"];
                /**
                 * @description Only transactions last updated at this time or later. The time zone is required; URL-encode the value, `+` above all.
                 * @example 2026-11-01T00:00:00Z
                 */
                updated_at_gte?: components["parameters"]["UpdatedAtGteFilter"];
                /**
                 * @description Only transactions last updated at this time or earlier. The time zone is required; URL-encode the value, `+` above all.
                 * @example 2026-11-30T23:59:59.999Z
                 */
                updated_at_lte?: components["parameters"]["UpdatedAtLteFilter"];
            };
            header?: {
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of transactions. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionCollection"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableTransactionQuery"];
            500: components["responses"]["ServerError"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    listWebhookSubscriptions: {
        parameters: {
            query?: {
                /** @description `next_cursor` or `previous_cursor` of an earlier response, unchanged, with the same filters. Left out, empty and `null` all mean the first page, because clients write an absent value in each of these ways. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The size of the page. */
                limit?: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhook subscriptions. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSubscriptionCollection"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableCursor"];
            500: components["responses"]["ServerError"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createWebhookSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this request again: a value of your choice that no other request of yours has, such as a random UUID. The same key with the same body returns the first response, and nothing is done twice; see [Idempotency](#section/Idempotency). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The merchant account to act upon. When left out, the oldest merchant account that the key pair can reach. Where an operation lists or serves several accounts, `*` selects all of them; see [Merchant accounts](#section/Merchant-accounts). API key pairs and card schemes belong to no account: their lists ignore the header, unless it is malformed (400).
                 * @example default
                 */
                "X-Service-Merchant-Account-ID"?: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The subscription to create. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookSubscriptionCreate"];
            };
        };
        responses: {
            /** @description The new subscription, with its secret. */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSubscription"];
                };
            };
            400: components["responses"]["BadRequestWebhookSubscription"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableWebhookSubscription"];
            425: components["responses"]["TooEarly"];
            500: components["responses"]["ServerError"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    onPaymentMethodCreated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The ID of the event. It stays the same when a delivery is repeated.
                 * @example 0b0c5a3e-7e0f-4a51-9d55-3f4d1f0f6a11
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description One signature per valid secret, separated by spaces. Each is `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When this delivery was sent, in seconds since 1970. Refuse one that is more than five minutes off.
                 * @example 1794479446
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMethodCreatedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx status within 15 seconds tells us that the event has arrived. The body is not read. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. 410 switches the subscription off. The first kilobyte of the body is kept with the attempt, for your operator, with card numbers and secrets masked. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. The first kilobyte of the body is kept as with 4XX. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentMethodUpdated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The ID of the event. It stays the same when a delivery is repeated.
                 * @example 0b0c5a3e-7e0f-4a51-9d55-3f4d1f0f6a11
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description One signature per valid secret, separated by spaces. Each is `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When this delivery was sent, in seconds since 1970. Refuse one that is more than five minutes off.
                 * @example 1794479446
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMethodUpdatedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx status within 15 seconds tells us that the event has arrived. The body is not read. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. 410 switches the subscription off. The first kilobyte of the body is kept with the attempt, for your operator, with card numbers and secrets masked. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. The first kilobyte of the body is kept as with 4XX. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTransactionCreated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The ID of the event. It stays the same when a delivery is repeated.
                 * @example 0b0c5a3e-7e0f-4a51-9d55-3f4d1f0f6a11
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description One signature per valid secret, separated by spaces. Each is `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When this delivery was sent, in seconds since 1970. Refuse one that is more than five minutes off.
                 * @example 1794479446
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionCreatedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx status within 15 seconds tells us that the event has arrived. The body is not read. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. 410 switches the subscription off. The first kilobyte of the body is kept with the attempt, for your operator, with card numbers and secrets masked. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. The first kilobyte of the body is kept as with 4XX. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTransactionUpdated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The ID of the event. It stays the same when a delivery is repeated.
                 * @example 0b0c5a3e-7e0f-4a51-9d55-3f4d1f0f6a11
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description One signature per valid secret, separated by spaces. Each is `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When this delivery was sent, in seconds since 1970. Refuse one that is more than five minutes off.
                 * @example 1794479446
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionUpdatedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx status within 15 seconds tells us that the event has arrived. The body is not read. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. 410 switches the subscription off. The first kilobyte of the body is kept with the attempt, for your operator, with card numbers and secrets masked. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is tried again. The first kilobyte of the body is kept as with 4XX. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
