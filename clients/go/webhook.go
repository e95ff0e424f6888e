package sluice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook says that a request must not be trusted: answer it with the status 401.
var ErrWebhook = errors.New("sluice: the signature of the webhook is not right")

// VerifyWebhook verifies a request of a webhook as Standard Webhooks 1.0.0 describes, and returns its payload. The body must
// be as it arrived, before it is parsed; the secret is that of the endpoint: whsec_…. A signature may be 5 minutes old. Of an
// event of the service, whose type begins with "sluice.", the payload lacks what a message does not have: parse the body.
func VerifyWebhook(header http.Header, body []byte, secret string) (*WebhookPayload, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		// Without the secret in its message.
		return nil, errors.New("sluice: secret must be the secret of an endpoint: whsec_…")
	}
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return nil, ErrWebhook
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, signature := range strings.Fields(header.Get("Webhook-Signature")) {
		encoded, isKnown := strings.CutPrefix(signature, "v1,")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if isKnown && err == nil && hmac.Equal(given, expected) {
			var payload WebhookPayload
			if err := json.Unmarshal(body, &payload); err != nil {
				return nil, err
			}
			return &payload, nil
		}
	}
	return nil, ErrWebhook
}
