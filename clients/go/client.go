// Package sluice is the Go client of Sluice, an HTTP front door of a message queue.
package sluice

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Options of a client. All but the first two may be left out.
type Options struct {
	// APIKey is slc_….
	APIKey string
	// BaseURL is the address of the server, such as https://sluice.example.com.
	BaseURL string
	// HTTPClient sends the requests; by default by the proxy of the environment. Its redirects are not followed.
	HTTPClient *http.Client
	// MaxTries is how often one call may be tried: 6 by default.
	MaxTries int
	// Timeout is how long one try may take, with the body of its response: 30 s by default.
	Timeout time.Duration
	// Deadline is how long a call may take with all its tries and waits: 2 minutes by default.
	Deadline time.Duration
}

// Client is a client of Sluice, for one API key. Share it, also among goroutines: what is known about limits is kept in it.
type Client struct {
	transport *transport
}

var visible = regexp.MustCompile(`^[\x21-\x7e]+$`)

// New makes a client. It fails if the key or the address cannot be right.
func New(options Options) (*Client, error) {
	if !visible.MatchString(options.APIKey) {
		return nil, errors.New("sluice: APIKey must be an API key: slc_…")
	}
	if options.BaseURL == "" {
		return nil, errors.New("sluice: BaseURL is missing: the address of the server, such as https://sluice.example.com")
	}
	address, err := url.Parse(options.BaseURL)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" ||
		address.User != nil || strings.ContainsAny(options.BaseURL, "?#") || !isPort(address.Port()) {
		// Without the address, which may have a password.
		return nil, errors.New("sluice: BaseURL must be an http: or https: URL without user, password, query and fragment")
	}
	return &Client{newTransport(options)}, nil
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || (err == nil && port > 0)
}

// FromEnv makes a client with SLUICE_API_KEY and SLUICE_BASE_URL of the environment.
func FromEnv() (*Client, error) {
	for _, name := range []string{"SLUICE_API_KEY", "SLUICE_BASE_URL"} {
		if os.Getenv(name) == "" {
			return nil, fmt.Errorf("sluice: %s is not set", name)
		}
	}
	return New(Options{APIKey: os.Getenv("SLUICE_API_KEY"), BaseURL: os.Getenv("SLUICE_BASE_URL")})
}

// Send sends a message. When it returns, the message is stored and queued.
//
// Without an idempotency key, each call has its own, which its retries share. Another call with the same key and message
// within 24 hours creates no second message.
func (c *Client) Send(ctx context.Context, message NewMessage, idempotencyKey ...string) (*AcceptedMessage, error) {
	var accepted AcceptedMessage
	if err := c.post(ctx, "/messages", message, idempotencyKey, "id", &accepted); err != nil {
		return nil, err
	}
	return &accepted, nil
}

// SendBatch sends up to 1,000 messages: all of them are stored, or none. Each counts as one request.
func (c *Client) SendBatch(ctx context.Context, messages []NewMessage, idempotencyKey ...string) ([]AcceptedMessage, error) {
	var accepted struct{ Data []AcceptedMessage }
	body := map[string]any{"messages": messages}
	err := c.post(ctx, "/messages/batch", body, idempotencyKey, "data", &accepted)
	return accepted.Data, err
}

// Get returns a message.
func (c *Client) Get(ctx context.Context, id string) (*Message, error) {
	return returned[Message](ctx, c.transport, call{method: http.MethodGet, path: pathOf(id), field: "id"})
}

// Attempts returns the attempts to deliver a message, the newest last.
func (c *Client) Attempts(ctx context.Context, id string) ([]Attempt, error) {
	var attempts struct{ Data []Attempt }
	err := c.transport.call(ctx, call{method: http.MethodGet, path: pathOf(id, "attempts"), field: "data"}, &attempts)
	return attempts.Data, err
}

// Filter selects messages of a list. What is empty selects all.
type Filter struct {
	Status     string
	Type       string
	EndpointID string
	Since      time.Time
	Until      time.Time
	// Preview cuts texts to so many characters, up to 1,000. A message whose text was cut has Truncated set.
	Preview  int
	PageSize int
}

// List returns the messages of the account, newest first, which are fetched page by page. It ends with the first error.
func (c *Client) List(ctx context.Context, filter Filter) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		query := filter.query()
		for {
			var page struct {
				Data       []Message
				NextCursor *string
			}
			if err := c.transport.call(ctx, call{method: http.MethodGet, path: "/messages", query: query, field: "data"}, &page); err != nil {
				yield(Message{}, err)
				return
			}
			for _, message := range page.Data {
				if !yield(message, nil) {
					return
				}
			}
			if page.NextCursor == nil || *page.NextCursor == "" {
				return
			}
			// A cache may ignore the query.
			if *page.NextCursor == query.Get("cursor") {
				message := "the response has a nextCursor that leads to no other page: check caches and proxies"
				yield(Message{}, &Error{Code: "unexpected_response", Message: message, Status: http.StatusOK})
				return
			}
			query.Set("cursor", *page.NextCursor)
		}
	}
}

func (f Filter) query() url.Values {
	size := f.PageSize
	if size == 0 {
		size = 100
	}
	query := url.Values{"limit": {strconv.Itoa(size)}}
	if f.Preview > 0 {
		query.Set("preview", strconv.Itoa(f.Preview))
	}
	for name, value := range map[string]string{"status": f.Status, "type": f.Type, "endpointId": f.EndpointID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return query
}

// Cancel cancels a message that is queued. It is not repeated when its outcome is unknown.
func (c *Client) Cancel(ctx context.Context, id string) (*Message, error) {
	return returned[Message](ctx, c.transport, call{method: http.MethodPost, path: pathOf(id, "cancel"), field: "id"})
}

// Retry queues a failed message again. It is not repeated when its outcome is unknown.
func (c *Client) Retry(ctx context.Context, id string) (*Message, error) {
	return returned[Message](ctx, c.transport, call{method: http.MethodPost, path: pathOf(id, "retry"), field: "id"})
}

// Lease leases up to max messages (at most 100) for some time, up to an hour: nobody else gets them until then. Without
// messages, it waits for up to 20 seconds. The account's delivery must be pull.
func (c *Client) Lease(ctx context.Context, max int, lease, wait time.Duration) ([]LeasedMessage, error) {
	body := map[string]any{"max": max, "seconds": seconds(lease), "wait": seconds(wait)}
	var leased struct{ Data []LeasedMessage }
	err := c.transport.call(ctx, call{
		method: http.MethodPost, path: "/messages/lease", body: body, isRepeatable: true, patience: wait, field: "data",
	}, &leased)
	return leased.Data, err
}

// Ack says that a message is delivered. It fails with the code lease_lost when the lease has expired.
func (c *Client) Ack(ctx context.Context, id, leaseToken string) error {
	return c.end(ctx, id, "ack", map[string]any{"leaseToken": leaseToken}, false)
}

// AckBatch says that up to 1,000 messages are delivered. The result says of which the lease was lost.
func (c *Client) AckBatch(ctx context.Context, leased []LeasedMessage) ([]Acknowledgement, error) {
	leases := make([]map[string]string, len(leased))
	for at, one := range leased {
		leases[at] = map[string]string{"id": one.ID, "leaseToken": one.LeaseToken}
	}
	var results struct{ Data []Acknowledgement }
	err := c.transport.call(ctx, call{
		method: http.MethodPost, path: "/messages/ack", body: map[string]any{"leases": leases}, isRepeatable: true,
		field: "data",
	}, &results)
	return results.Data, err
}

// Rejection of a message. Without a delay, the server decides when the message is available again.
type Rejection struct {
	Delay  *time.Duration
	Reason string
}

// Nack says that the attempt has failed: the message is available again, or failed if it was the last one.
func (c *Client) Nack(ctx context.Context, id, leaseToken string, rejection Rejection) error {
	return c.nack(ctx, id, leaseToken, rejection, false)
}

func (c *Client) nack(ctx context.Context, id, leaseToken string, rejection Rejection, isUnbounded bool) error {
	body := map[string]any{"leaseToken": leaseToken}
	if rejection.Delay != nil {
		body["delaySeconds"] = seconds(*rejection.Delay)
	}
	if reason := storable(rejection.Reason); reason != "" {
		body["reason"] = reason
	}
	return c.end(ctx, id, "nack", body, isUnbounded)
}

// Extend lets a lease expire so long from now.
func (c *Client) Extend(ctx context.Context, id, leaseToken string, lease time.Duration) error {
	return c.extend(ctx, id, leaseToken, lease, false)
}

func (c *Client) extend(ctx context.Context, id, leaseToken string, lease time.Duration, isUnbounded bool) error {
	return c.end(ctx, id, "extend", map[string]any{"leaseToken": leaseToken, "seconds": seconds(lease)}, isUnbounded)
}

func (c *Client) end(ctx context.Context, id, verb string, body any, isUnbounded bool) error {
	return c.transport.call(ctx, call{
		method: http.MethodPost, path: pathOf(id, verb), body: body, isRepeatable: true, isUnbounded: isUnbounded,
	}, nil)
}

func (c *Client) post(ctx context.Context, path string, body any, keys []string, field string, result any) error {
	key := ""
	if len(keys) > 0 {
		key = keys[0]
		if !visible.MatchString(key) || len(key) > 255 {
			return errors.New("sluice: an idempotency key must be 1 to 255 visible ASCII characters without spaces")
		}
	} else {
		bytes := make([]byte, 16)
		if _, err := rand.Read(bytes); err != nil {
			return err
		}
		key = hex.EncodeToString(bytes)
	}
	return c.transport.call(ctx, call{
		method: http.MethodPost, path: path, body: body, idempotencyKey: key, isRepeatable: true, field: field,
	}, result)
}

// returned is what a call returns, or nil and its error.
func returned[T any](ctx context.Context, t *transport, c call) (*T, error) {
	var result T
	if err := t.call(ctx, c, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

func pathOf(id string, more ...string) string {
	return strings.Join(append([]string{"/messages", url.PathEscape(id)}, more...), "/")
}

// seconds rounds up: a short delay must not become none.
func seconds(of time.Duration) int { return int((of + time.Second - 1) / time.Second) }
