// Generated from the OpenAPI document by `npm run client:types`.

package sluice

import "time"

type FieldError struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

type Problem struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	Code      string       `json:"code"`
	RequestID string       `json:"requestId"`
	Errors    []FieldError `json:"errors,omitempty"`
}

type NewMessage struct {
	Message     string            `json:"message"`
	DeliverAt   *time.Time        `json:"deliverAt,omitempty"`
	Type        string            `json:"type,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	OrderingKey string            `json:"orderingKey,omitempty"`
}

type AcceptedMessage struct {
	ID          string            `json:"id"`
	Message     string            `json:"message"`
	DeliverAt   *time.Time        `json:"deliverAt,omitempty"`
	Type        string            `json:"type,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	OrderingKey string            `json:"orderingKey,omitempty"`
	Status      string            `json:"status"`
	CreatedAt   time.Time         `json:"createdAt"`
}

type Message struct {
	ID            string            `json:"id"`
	Message       string            `json:"message"`
	DeliverAt     *time.Time        `json:"deliverAt,omitempty"`
	Type          string            `json:"type,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	OrderingKey   string            `json:"orderingKey,omitempty"`
	Status        string            `json:"status"`
	CreatedAt     time.Time         `json:"createdAt"`
	Delivery      string            `json:"delivery"`
	UpdatedAt     time.Time         `json:"updatedAt"`
	Attempts      int               `json:"attempts"`
	FailureReason *string           `json:"failureReason"`
	NextAttemptAt *time.Time        `json:"nextAttemptAt"`
	Truncated     bool              `json:"truncated,omitempty"`
}

type Attempt struct {
	Number         int       `json:"number"`
	Target         string    `json:"target"`
	StartedAt      time.Time `json:"startedAt"`
	DurationMs     *float64  `json:"durationMs"`
	Outcome        string    `json:"outcome"`
	Error          *string   `json:"error"`
	ResponseStatus *int      `json:"responseStatus"`
	ResponseBody   *string   `json:"responseBody"`
}

type LeasedMessage struct {
	ID             string            `json:"id"`
	Message        string            `json:"message"`
	DeliverAt      *time.Time        `json:"deliverAt,omitempty"`
	Type           string            `json:"type,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	OrderingKey    string            `json:"orderingKey,omitempty"`
	CreatedAt      time.Time         `json:"createdAt"`
	Attempt        int               `json:"attempt"`
	LeaseToken     string            `json:"leaseToken"`
	LeaseExpiresAt time.Time         `json:"leaseExpiresAt"`
}

type Acknowledgement struct {
	ID     string `json:"id"`
	Result string `json:"result"`
}

type WebhookData struct {
	ID          string            `json:"id"`
	Message     string            `json:"message"`
	DeliverAt   *time.Time        `json:"deliverAt,omitempty"`
	Type        string            `json:"type,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	OrderingKey string            `json:"orderingKey,omitempty"`
	CreatedAt   time.Time         `json:"createdAt"`
}

type WebhookPayload struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Data      WebhookData `json:"data"`
}
